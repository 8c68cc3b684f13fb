/** What both sides may speak. Beside the messages: `grange exec` knows it without loading what checks them. */
export const protocolVersions: readonly number[] = [1];
