/** The limit for a block, packed or unpacked. */
export const mostBlockBytes = 128 * 1024;

/** Bits are read backwards, four bytes at a time, and a missing bit is only detected afterwards. */
export const paddingBytes = 32;

/**
 * The buffer of the block that is being decoded. One for all streams, because a block is decoded in one step of the
 * event loop.
 */
export const scratch = new Uint8Array(paddingBytes + mostBlockBytes + paddingBytes);
export const scratchView = new DataView(scratch.buffer);

/** A block's literals, while it is decoded. */
export const literalScratch = new Uint8Array(mostBlockBytes);
