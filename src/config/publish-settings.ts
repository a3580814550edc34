import { UsageError } from '../errors.ts';
import { isLoopback } from './parse.ts';
import { type ProxySetting, safeProxyFor } from './proxy.ts';
import { type Environment, type Given, rejectUnknownVariables, resolveAll } from './resolve.ts';

/** The checked settings of `publish`: the target, its login, and the tenant. */
export interface PublishConfig {
  /** Without a slash at its end. */
  readonly url: string;
  readonly user: string;
  readonly password: { readonly text: string } | { readonly file: string };
  readonly database: string;
  readonly tenant: string;
  readonly proxy: ProxySetting | null;
}

/**
 * Resolves the settings of `publish`.
 *
 * @throws UsageError that names the setting.
 */
export function resolvePublish(flags: Given, environment: Environment): PublishConfig {
  const values = resolveAll(flags, environment);
  const { clickhouseUrl: url, clickhousePassword: password, clickhousePasswordFile: file, tenant } = values;
  if (url === null) throw new UsageError('DOCMIRROR_CLICKHOUSE_URL is not set. Set it, or pass --url.');
  if (url.protocol === 'http:' && !values.allowHttp && !isLoopback(url.hostname)) {
    throw new UsageError(
      'DOCMIRROR_CLICKHOUSE_URL: http is for loopback addresses only, because it shows password and records to the network. Use https, or set DOCMIRROR_ALLOW_HTTP=true.',
    );
  }
  if (tenant === null) throw new UsageError('DOCMIRROR_TENANT is not set. Set it, or pass --tenant.');
  const isPasswordFlag = flags.password !== undefined && flags.passwordFile === undefined;
  return Object.freeze({
    url: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    user: values.clickhouseUser,
    password: file === null || isPasswordFlag ? { text: password ?? '' } : { file },
    database: values.clickhouseDatabase,
    tenant,
    proxy: safeProxyFor(url, environment, {
      allowHttp: values.allowHttp,
      carried: 'the password for DOCMIRROR_CLICKHOUSE_URL',
    }),
  });
}

/**
 * The database in which to create the tables. No other setting is needed for that.
 *
 * @throws UsageError that names the setting.
 */
export function resolveTargetDatabase(flags: Given, environment: Environment): string {
  rejectUnknownVariables(environment);
  return resolveAll(flags, environment).clickhouseDatabase;
}
