import { type ResourceName, resourceNames } from '../../contract/lists.ts';

/** Everything of which versions are kept: the lists in the order in which they are reported, then the connections. */
export const keptResources: readonly (ResourceName | 'connections')[] = [...resourceNames, 'connections'];
