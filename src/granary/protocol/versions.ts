/**
 * The supported versions of both sides. Separate from the messages, because `grange exec` does not load their schemas.
 */
export const protocolVersions: readonly number[] = [1];
