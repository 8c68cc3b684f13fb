import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "#core/fault.ts";
import type { LocalOutputs } from "./local-outputs.ts";
import {
  closeAnswer,
  errorAnswer,
  greeting,
  hitAnswer,
  type LocalOutput,
  missAnswer,
  putAnswer,
} from "./protocol.ts";
import { readRequests } from "./read-requests.ts";
import type { RemoteOutputs } from "./remote-outputs.ts";

interface GoCacheParts {
  readonly input: AsyncIterable<Uint8Array>;
  /** Writes one line of JSON to the go command. */
  readonly answer: (value: object) => void;
  readonly local: LocalOutputs;
  /** Undefined: only the cache of this machine. */
  readonly remote: RemoteOutputs | undefined;
  /**
   * Whether the server is a granary of this machine. Then it learns about each output that was found here: the index of
   * the commit contains it, and it is sent if no other machine has it.
   */
  readonly remoteIsGranary: boolean;
  readonly warn: (line: string) => void;
}

/** Uploads that run at the same time. */
const uploadsAtOnce = 8;
/** How long a go command waits at its end for uploads, in ms. */
const lastUploadsMs = 60_000;

/** Serves one go command, until it closes the cache or its input ends. */
export async function serveGo(parts: GoCacheParts): Promise<void> {
  const { input, answer, local, remote, warn } = parts;
  const uploads = uploadQueue();
  answer(greeting);
  for await (const { request, body } of readRequests(input)) {
    switch (request.Command) {
      case "get": {
        // Not awaited: Go makes many requests at the same time, and takes answers in any order.
        void find(parts, uploads, request.ActionID).then(
          (found) =>
            answer(found === undefined ? missAnswer(request.ID) : hitAnswer(request.ID, found)),
          (reason: unknown) => {
            warn(`an output could not be read: ${messageOf(reason)}`);
            answer(missAnswer(request.ID));
          },
        );
        break;
      }
      case "put": {
        const { ID, ActionID, OutputID, BodySize } = request;
        const expected = { output: OutputID, sizeBytes: BodySize };
        try {
          const stored = await local.store(ActionID, expected, Date.now(), body);
          answer(putAnswer(ID, stored.path));
          if (remote !== undefined) uploads.add(() => remote.store(ActionID, stored));
        } catch (reason) {
          answer(errorAnswer(ID, messageOf(reason)));
        }
        break;
      }
      case "close": {
        const left = await uploads.finish(lastUploadsMs);
        if (left > 0) {
          warn(`${left} results were not sent: that took more than ${lastUploadsMs / 1_000} s`);
        }
        answer(closeAnswer(request.ID));
        return;
      }
    }
  }
}

async function find(
  { local, remote, remoteIsGranary, warn }: GoCacheParts,
  uploads: UploadQueue,
  action: string,
): Promise<LocalOutput | undefined> {
  const here = await local.find(action);
  if (remote === undefined) return here;
  if (here !== undefined) {
    if (remoteIsGranary) {
      uploads.add(async () => {
        if (!(await remote.has(action))) await remote.store(action, here);
      });
    }
    return here;
  }
  const offered = await remote.fetch(action);
  if (offered === undefined) return undefined;
  try {
    return await local.store(action, offered, offered.storedAtMs, offered.body);
  } catch (reason) {
    // Go makes the output again.
    remote.bodyFailed(reason);
    warn(`an output of the cache was not used: ${messageOf(reason)}`);
    return undefined;
  }
}

interface UploadQueue {
  add(upload: () => Promise<void>): void;
  /** Waits until all have ended, at most the given time; returns how many have not. */
  finish(mostMs: number): Promise<number>;
}

function uploadQueue(): UploadQueue {
  const waiting: (() => Promise<void>)[] = [];
  let running = 0;
  let ended = () => {};
  const next = () => {
    const upload = running < uploadsAtOnce ? waiting.shift() : undefined;
    if (upload === undefined) {
      if (running === 0) ended();
      return;
    }
    running++;
    void upload().finally(() => {
      running--;
      next();
    });
  };
  return {
    add(upload) {
      waiting.push(upload);
      next();
    },
    async finish(mostMs) {
      if (running === 0) return 0;
      const timer = new AbortController();
      const all = new Promise<void>((resolve) => {
        ended = resolve;
      });
      const late = delay(mostMs, undefined, { signal: timer.signal }).catch(() => {});
      await Promise.race([all, late]);
      timer.abort();
      return running + waiting.splice(0).length;
    },
  };
}
