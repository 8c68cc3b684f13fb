import type { Digest } from "#core/digest.ts";

/** Uploads that may be broken off, and go on later where they were. */
export interface Uploads {
  /** How many bytes of the upload are here. */
  committed(name: string): Promise<number>;
  /** Takes in an upload from `offset` on, and keeps the blob when it is whole. */
  receive(upload: Upload): Promise<void>;
  /** Gives up those that were broken off too long ago, and of the rest the oldest that are too many. */
  sweep(): Promise<void>;
}

export interface Upload {
  /** Unlike every other upload's; who says it again goes on with the same one. */
  readonly name: string;
  readonly digest: Digest;
  readonly offset: number;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Called when another call goes on with this upload: `chunks` is then to fail. */
  readonly interrupt: () => void;
}
