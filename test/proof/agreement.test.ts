import { describe, expect, test } from 'vitest';
import { agree } from '../../src/proof/agreement.ts';
import { Pages } from './pages.ts';

const pages = new Pages();
const still = (list: string, size = 3) => pages.strip(pages.still(list, size), size);
/** A list of three that grew by one while it was read, at its front and at its end. */
const grewAtFront = pages.strip([pages.answer(0, 3, 'CB'), pages.answer(1, 4, 'BA')], 2);
const grewAtEnd = pages.strip([pages.answer(0, 3, 'AB'), pages.answer(1, 4, 'CD')], 2);

describe('a later reading', () => {
  test.each([
    ['that holds the same', still('ABCDE'), still('ABCDE'), 'agrees'],
    ['that holds the same in another order and by other cuts', still('ABCDE'), still('EDCBA', 2), 'agrees'],
    ['of an empty list', still(''), still(''), 'agrees'],
    ['that holds a record less', still('ABCDE'), still('ABCD'), 'differs'],
    ['that holds another record', still('ABCDE'), still('ABCDX'), 'differs'],
    ['that holds one twice and another not at all', still('ABCDE'), still('AACDE'), 'differs'],
    ['with a new record at its end', still('ABCDE'), still('ABCDEF'), 'agrees'],
    ['with a new record at its front', still('ABCDE'), still('FABCDE'), 'agrees'],
    ['with a new record amid it', still('ABCDE'), still('ABFCDE'), 'differs'],
    ['with new records at both ends', still('ABCDE'), still('FABCDEG'), 'differs'],
    ['whose new record is one that it holds already', still('ABCDE'), still('ABCDEA'), 'doubtful'],
    ['whose new record stands twice on one page', still('ABC'), still('ABCDD'), 'agrees'],
    ['whose new record stands on two of its pages', still('ABC'), still('ABCDEFD'), 'doubtful'],
    ['that grew at the end that the earlier one did not', grewAtFront, grewAtEnd, 'differs'],
    ['that stands still, after one that grew at its front', grewAtFront, still('DCBA'), 'agrees'],
    ['that is new at its end, after one that grew at its front', grewAtFront, still('CBAD'), 'differs'],
    ['that is new at its end, after one that grew at its end', still('ABC'), grewAtEnd, 'agrees'],
  ] as const)('%s: %s', (_what, earlier, later, kind) => {
    expect(agree(earlier, later, pages.itemsOf).kind).toBe(kind);
  });

  test('whose pages were not read where they are needed in part can not be told', () => {
    const later = pages.strip(
      [pages.answer(0, 7, 'ABC'), pages.unread(1, 7, 'DEQ'), pages.answer(2, 7, 'G')],
      3,
    );
    expect(agree(still('ABCDE'), later, pages.itemsOf).kind).toBe('unread');
  });
});
