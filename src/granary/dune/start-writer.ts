import { Worker } from "node:worker_threads";
import { z } from "zod";
import { tempFileIn } from "#cas/temp-file.ts";
import { Fault } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import { writerScript } from "./writer-script.ts";

export interface NewFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly mode: number;
}

/** Puts files into dune's store in parallel to the granary's other work. */
export interface FileWriter extends Service {
  /**
   * Writes files in this order, each completely or not at all; calls are served one after the other. Throws the error
   * of the file system; the files before the failed one exist then.
   */
  put(files: readonly NewFile[]): Promise<void>;
  /** Makes the missing directories whose parents exist. */
  makeDirectories(paths: readonly string[]): Promise<void>;
}

const WriterAnswers = z.array(
  z.object({ id: z.number(), why: z.string().optional(), code: z.string().optional() }),
);

interface Ask {
  readonly id: number;
  readonly files: readonly NewFile[];
  readonly directories: readonly string[];
}

interface Waiting {
  resolve(): void;
  reject(reason: unknown): void;
}

const gone = () => new Fault("unavailable", "the thread that writes dune's files has ended");

/** `temp` is on the file system of the files, in a directory that no program searches. */
export function startWriter(temp: string): FileWriter {
  const waiting = new Map<number, Waiting>();
  const underWay = new Set<Promise<void>>();
  let asks: Ask[] = [];
  let lastId = 0;
  let endedBy: unknown;
  const worker = new Worker(writerScript, {
    eval: true,
    workerData: { prefix: tempFileIn(temp) },
    // The thread does not get the program's own options, because loading the program's sources
    // costs more than the thread itself.
    execArgv: [],
  });
  // A pending file keeps the process alive; the thread alone does not.
  worker.unref();
  worker.on("message", (message) => {
    for (const { id, why, code } of WriterAnswers.parse(message)) {
      const one = waiting.get(id);
      waiting.delete(id);
      if (why === undefined) one?.resolve();
      else one?.reject(Object.assign(new Error(why), { code }));
    }
    if (waiting.size === 0) worker.unref();
  });
  worker.on("error", end);
  const exited = new Promise<void>((resolve) => {
    worker.once("exit", () => {
      end(gone());
      resolve();
    });
  });

  function end(reason: unknown): void {
    endedBy ??= reason;
    const all = [...waiting.values()];
    waiting.clear();
    for (const one of all) one.reject(endedBy);
  }

  /** Sends the requests of one turn in one message: a message costs as much as a small file. */
  function send(): void {
    const some = asks;
    asks = [];
    const files = some.flatMap((ask) => ask.files);
    // The files are copied into a new buffer, which is transferred to the thread: received bytes
    // share their buffers with others.
    const bytes = new Uint8Array(files.reduce((sum, file) => sum + file.bytes.byteLength, 0));
    let end = 0;
    const place = ({ path, mode, bytes: own }: NewFile) => {
      const offset = end;
      bytes.set(own, offset);
      end += own.byteLength;
      return { path, mode, offset, size: own.byteLength };
    };
    const placed = some.map((ask) => ({ ...ask, files: ask.files.map(place) }));
    worker.postMessage({ bytes, asks: placed }, [bytes.buffer]);
  }

  function ask(files: readonly NewFile[], directories: readonly string[]): Promise<void> {
    if (endedBy !== undefined) return Promise.reject(endedBy);
    if (asks.length === 0) setImmediate(send);
    const id = ++lastId;
    asks.push({ id, files, directories });
    const done = new Promise<void>((resolve, reject) => waiting.set(id, { resolve, reject }));
    worker.ref();
    underWay.add(done);
    const settled = () => void underWay.delete(done);
    done.then(settled, settled);
    return done;
  }

  return {
    put: (files) => ask(files, []),
    makeDirectories: (paths) => ask([], paths),
    async stop() {
      await Promise.allSettled(underWay);
      endedBy ??= gone();
      await worker.terminate();
      await exited;
    },
  };
}
