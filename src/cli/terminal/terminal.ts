import type { CliConfig } from "../config.ts";
import { type Paint, paintFor } from "./paint.ts";
import { type RedrawnBlock, redrawnBlock } from "./redrawn-block.ts";

/** One of the two output streams of a command. */
export interface Outlet {
  readonly paint: Paint;
  readonly isTerminal: boolean;
  /** Lines that are redrawn in place, on a terminal. */
  readonly block: RedrawnBlock | undefined;
  readonly columns: () => number;
  readonly rows: () => number;
  readonly line: (text: string) => void;
  readonly write: (text: string) => void;
}

export interface Terminal {
  /** The result of the command. */
  readonly answer: Outlet;
  /** Progress and errors. */
  readonly notes: Outlet;
}

export function openTerminal(config: Pick<CliConfig, "noColor" | "terminal">): Terminal {
  const outlet = (stream: NodeJS.WriteStream): Outlet => {
    const isTerminal = stream.isTTY === true && config.terminal !== "dumb";
    const write = (text: string) => void stream.write(text);
    const block = isTerminal ? redrawnBlock(write) : undefined;
    return {
      block,
      paint: paintFor(isTerminal && !config.noColor),
      isTerminal,
      columns: () => stream.columns ?? 100,
      rows: () => stream.rows ?? 24,
      line: (text) => {
        block?.clear();
        write(`${text}\n`);
      },
      write,
    };
  };
  return { answer: outlet(process.stdout), notes: outlet(process.stderr) };
}

/** `grange logs … | head` closes the pipe early, which is not a failure. */
export function endQuietlyOnClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code === "EPIPE") process.exit();
      throw cause;
    });
  }
}
