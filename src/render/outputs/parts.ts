import { keptResources, resourceNames } from '../../contract/lists.ts';
import { anyObject, hex, list, object, oneOf, orNull, text, time, whole } from '../../contract/shapes.ts';

// Parts of several outputs.

/** A list by its name. */
export const resource = oneOf<string>(resourceNames, 'the list');

/** A list or the connections, by its name. */
export const keptResource = oneOf<string>(keptResources, 'the list, or `connections`');

/** An error. */
export const error = (description: string) =>
  object(
    {
      code: text('one of the codes under Errors in docs/reference.md, for programs'),
      message: text('what happened and what to do, for people'),
    },
    description,
  );

/** The output of a command that fails before it has anything else to say. */
export const failureOutput = object({ error: error('what went wrong') });

/** How a run or a list ended. */
export const status = (description: string) =>
  oneOf<string>(
    ['running', 'died', 'completed', 'partial', 'failed', 'cancelled', 'interrupted'],
    `${description}; \`died\` if its process is gone, and \`interrupted\` once the next run has recorded that`,
  );

/** The labels of a mirror or a run. */
export const labels = anyObject<Record<string, string>>('the labels, by their names');

/** The place of a receipt in the log. */
export const receiptHead = (description: string) =>
  orNull(
    object(
      {
        leafIndex: whole('its place in the log, from 0'),
        leafHash: hex(64, 'its hash'),
        treeSize: whole('receipts in the log'),
        rootHash: hex(64, 'the root hash of all receipts'),
      },
      description,
    ),
  );

/** A JSON type of the values of a field that has no column. */
export const jsonType = oneOf<string>(
  ['string', 'number', 'boolean', 'object', 'array', 'null'],
  'of its values',
);

/** A record in the service's own shape. */
export const record = (description: string) => orNull(anyObject(description));

/** When a run or a list of it ended. */
export const completedAt = orNull(time('when it ended; null while it goes on, and if its process died'));

/** Notes for people. */
export const notes = (description: string) => list(text('a note'), description);
