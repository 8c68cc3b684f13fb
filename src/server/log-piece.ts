/** A piece of a log. Offsets are bytes from the log's beginning. */
export interface LogPiece {
  readonly bytes: Uint8Array;
  readonly nextOffset: number;
  /** The log is complete: no more bytes will follow. */
  readonly complete: boolean;
  /** Changes when another attempt starts, whose log starts from the beginning. */
  readonly attempt: number;
}
