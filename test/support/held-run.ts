import { expect } from 'vitest';
import { spawnCli } from './run-cli.ts';
import type { Scene } from './scene.ts';

/** A run that is under way until it is released. */
export interface HeldRun extends AsyncDisposable {
  /** Lets it go on, and waits until it has ended well. */
  release(): Promise<void>;
}

/** Starts a sync and waits until it asks for a list, which it gets only when it is released. */
export async function holdRun(scene: Scene, resource: string): Promise<HeldRun> {
  const { service } = scene;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const reached = new Promise<void>(resolve => {
    service.onRequest = async request => {
      if (request.resource !== resource) return;
      resolve();
      await released;
    };
  });
  const running = spawnCli(['sync', '--full', '--max-removals', '100%'], { env: scene.env });
  await Promise.race([reached, running.done]);
  return {
    async release() {
      release();
      expect(await running.done).toMatchObject({ code: 0 });
    },
    async [Symbol.asyncDispose]() {
      release();
      await running[Symbol.asyncDispose]();
    },
  };
}
