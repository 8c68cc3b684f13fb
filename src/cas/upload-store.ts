import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";

/** Uploads that can be interrupted and resumed. */
export interface UploadStore {
  /** Returns the number of received bytes of the upload. */
  committed(name: string): Promise<number>;
  /** Receives an upload from `offset` on, and stores the blob when it is complete. */
  receive(upload: Upload): Promise<void>;
  /** Deletes uploads that were interrupted too long ago, and the oldest of the rest above the limits. */
  sweep(): Promise<void>;
}

export interface Upload {
  /** Unique among uploads; the same name again continues the same upload. */
  readonly name: string;
  readonly digest: Digest;
  readonly offset: number;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Called when another call resumes this upload: `chunks` must then fail. */
  readonly interrupt: () => void;
}

/** The fault for a client that continues behind the received part of its upload. */
export function notSoFar(digest: Digest, offset: number, hereBytes: number): Fault {
  return new Fault(
    "out_of_range",
    `the upload of ${digestKey(digest)} continues at ${offset}, but the server has ${hereBytes} bytes of it; QueryWriteStatus returns the right offset`,
  );
}
