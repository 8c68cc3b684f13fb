import { Fault } from "#core/fault.ts";
import { type BlockHistory, decodeBlock, freshHistory } from "./block.ts";
import { corrupt } from "./corrupt.ts";
import { InputBytes } from "./input-bytes.ts";
import { mostBlockBytes, paddingBytes, scratch } from "./scratch.ts";

/** The window that RFC 8878 requires every decoder to accept. Level 19 needs as much, and only "ultra" needs more. */
export const mostWindowBytes = 8 * 1024 * 1024;

const frameMagic = 0xfd2fb528;
const skippableMagic = 0x184d2a50;

interface Frame {
  readonly windowBytes: number;
  readonly contentBytes: number | undefined;
  readonly hasChecksum: boolean;
  readonly history: BlockHistory;
  /** The position in `#out` of the first byte of this frame that is still in memory. */
  since: number;
  producedBytes: number;
}

type Expected =
  | { readonly kind: "frame" }
  | { readonly kind: "skipped"; bytes: number }
  | { readonly kind: "block"; readonly frame: Frame }
  | { readonly kind: "checksum" };

/**
 * Unpacks zstd as it arrives: any number of frames, each of any size.
 *
 * It is safe for untrusted input. Work and memory are limited by the size of the output, and the output by `mostBytes`;
 * a block takes about a millisecond, and the caller can pause after each. The checksums of frames are ignored, because
 * a blob has its digest.
 */
export class ZstdDecoder {
  readonly #mostBytes: number;
  readonly #input = new InputBytes();
  #expected: Expected = { kind: "frame" };
  #out = new Uint8Array(0);
  #at = 0;
  #producedBytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** The bytes that are held for later: the window, and an incomplete block. */
  get heldBytes(): number {
    return this.#out.byteLength + this.#input.length;
  }

  /** Adds a chunk; yields the content of each block, which may be empty. */
  *push(chunk: Uint8Array): Generator<Uint8Array, void, undefined> {
    this.#input.add(chunk);
    for (;;) {
      const bytes = this.#step();
      if (bytes === undefined) return;
      yield bytes;
    }
  }

  /** Throws unless the last frame is complete. */
  end(): void {
    if (this.#expected.kind === "frame" && this.#input.length === 0) return;
    throw corrupt("it ends too early");
  }

  /** Does one step; returns undefined when it needs more bytes. */
  #step(): Uint8Array | undefined {
    const expected = this.#expected;
    switch (expected.kind) {
      case "frame":
        return this.#header() ? nothing : undefined;
      case "skipped": {
        expected.bytes -= this.#input.drop(expected.bytes);
        if (expected.bytes > 0) return undefined;
        this.#expected = { kind: "frame" };
        return nothing;
      }
      case "block":
        return this.#block(expected.frame);
      case "checksum": {
        if (this.#input.length < 4) return undefined;
        this.#input.drop(4);
        this.#expected = { kind: "frame" };
        return nothing;
      }
    }
  }

  #header(): boolean {
    const input = this.#input;
    if (input.length < 5) return false;
    const magic = input.peek(4);
    if (magic >>> 4 === skippableMagic >>> 4) {
      if (input.length < 8) return false;
      input.drop(4);
      const bytes = input.peek(4);
      input.drop(4);
      this.#expected = { kind: "skipped", bytes };
      return true;
    }
    if (magic !== frameMagic) throw corrupt("a frame does not begin with the magic number of zstd");
    const descriptor = input.byteAt(4);
    const single = (descriptor & 32) !== 0;
    const contentWidth = [single ? 1 : 0, 2, 4, 8][descriptor >> 6] as number;
    const dictionaryWidth = [0, 1, 2, 4][descriptor & 3] as number;
    const windowWidth = single ? 0 : 1;
    if (input.length < 5 + windowWidth + dictionaryWidth + contentWidth) return false;
    if ((descriptor & 8) !== 0) throw corrupt("a reserved bit of a frame header is set");
    input.drop(5);
    const window = windowWidth === 1 ? windowOf(input.byteAt(0)) : undefined;
    input.drop(windowWidth);
    if (input.peek(dictionaryWidth) !== 0) throw corrupt("a frame needs a dictionary");
    input.drop(dictionaryWidth);
    let contentBytes: number | undefined;
    if (contentWidth > 0) {
      contentBytes = input.peek(Math.min(contentWidth, 4));
      if (contentWidth === 2) contentBytes += 256;
      input.drop(Math.min(contentWidth, 4));
      if (contentWidth === 8) {
        contentBytes += input.peek(4) * 2 ** 32;
        input.drop(4);
      }
    }
    if (contentBytes !== undefined) this.#assertRoomFor(contentBytes);
    const windowBytes = window ?? contentBytes ?? 0;
    if (windowBytes > mostWindowBytes) {
      throw new Fault(
        "invalid_argument",
        `the zstd stream has a window of ${windowBytes} bytes; use at most ${mostWindowBytes}, which is level 19 without --long`,
      );
    }
    this.#at = 0;
    const hasChecksum = (descriptor & 4) !== 0;
    const history = freshHistory();
    const frame = { windowBytes, contentBytes, hasChecksum, history, since: 0, producedBytes: 0 };
    this.#expected = { kind: "block", frame };
    return true;
  }

  #block(frame: Frame): Uint8Array | undefined {
    const input = this.#input;
    if (input.length < 3) return undefined;
    const header = input.peek(3);
    const isLast = (header & 1) !== 0;
    const kind = (header >>> 1) & 3;
    const size = header >>> 3;
    const most = Math.min(mostBlockBytes, frame.windowBytes);
    if (kind === 3) throw corrupt("a block has the reserved block type");
    if (size > most) throw corrupt("a block exceeds the maximum block size");
    const stored = kind === 1 ? 1 : size;
    if (input.length < 3 + stored) return undefined;
    input.drop(3);

    this.#makeRoom(frame, kind === 2 ? most : size);
    const out = this.#out;
    const start = this.#at;
    if (kind === 0) {
      input.copy(out, start, size);
      this.#at += size;
    } else if (kind === 1) {
      out.fill(input.byteAt(0), start, start + size);
      this.#at += size;
    } else {
      if (size < 2) throw corrupt("a block is too short");
      input.copy(scratch, paddingBytes, size);
      this.#at = decodeBlock(size, out, start, frame.since, most, frame.history);
    }
    input.drop(stored);

    const bytes = this.#at - start;
    this.#assertRoomFor(bytes);
    this.#producedBytes += bytes;
    frame.producedBytes += bytes;
    if (isLast) this.#finish(frame);
    return out.slice(start, start + bytes);
  }

  #finish({ contentBytes, producedBytes, hasChecksum }: Frame): void {
    if (contentBytes !== undefined && contentBytes !== producedBytes) {
      throw corrupt(
        `the header of a frame says ${contentBytes} bytes, but the frame has ${producedBytes}`,
      );
    }
    this.#expected = { kind: hasChecksum ? "checksum" : "frame" };
  }

  #assertRoomFor(bytes: number): void {
    if (this.#producedBytes + bytes <= this.#mostBytes) return;
    throw new Fault(
      "invalid_argument",
      `the zstd stream unpacks to more than the ${this.#mostBytes} bytes that its sender declared`,
    );
  }

  /**
   * Makes room for a block behind the window.
   *
   * The buffer grows with the decoded bytes, never because of a header's claim. Once it holds two windows, its second
   * half is moved down, so that each byte is moved once.
   */
  #makeRoom(frame: Frame, bytes: number): void {
    const windowStart = Math.max(frame.since, this.#at - frame.windowBytes);
    frame.since = windowStart;
    if (this.#at + bytes <= this.#out.byteLength) return;
    const held = this.#at - windowStart;
    const enough = windowStart >= held && held + bytes <= this.#out.byteLength;
    if (enough) this.#out.copyWithin(0, windowStart, this.#at);
    else {
      const most = 2 * frame.windowBytes + 2 * mostBlockBytes;
      const grown = new Uint8Array(Math.min(most, Math.max(2 * (held + bytes), 4_096)));
      grown.set(this.#out.subarray(windowStart, this.#at));
      this.#out = grown;
    }
    frame.since = 0;
    this.#at = held;
  }
}

const nothing = new Uint8Array(0);

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}
