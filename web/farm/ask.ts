import { z } from "zod";
import {
  type AnyCallInput,
  type CallInput,
  type Endpoint,
  pathOfCall,
  type ResultOf,
} from "#api/endpoint.ts";
import { Failure } from "#api/failure.ts";
import { acceptedAge, noteChange } from "./accepted-age.ts";
import { askForNewWord, pageWord, wordHeader } from "./page-word.ts";

// zod would compile its checks with `new Function`, which the pages' content policy forbids.
z.config({ jitless: true });

export const apiBase = "/api/v1";

/** The farm's unexpected answer. `status` 0: there was no answer. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Sends a request to the farm; parses the answer with its schema. */
async function ask<T>(schema: z.ZodType<T>, path: string, init: RequestInit = {}): Promise<T> {
  const response = await reach(`${apiBase}${path}`, init);
  if (!response.ok) throw await failureOf(response);
  return schema.parse(await response.json());
}

/** Returns the headers of a request that reads. */
function readHeaders(): Readonly<Record<string, string>> {
  const age = acceptedAge();
  return age === undefined ? {} : { "cache-control": age };
}

/** Sends a change to the farm; PUT sends the complete new state. */
export async function tell<T>(
  schema: z.ZodType<T>,
  path: string,
  body: unknown = {},
  method: "POST" | "PUT" | "DELETE" = "POST",
): Promise<T> {
  const send = async () => {
    const word = await pageWord();
    // Also when it fails: the farm may have made the change before.
    return ask(schema, path, {
      method,
      headers: {
        // The farm accepts no other type, because a page of another site could send one without permission.
        "content-type": "application/json",
        ...(word === null ? {} : { [wordHeader]: word }),
      },
      body: JSON.stringify(body),
    }).finally(() => noteChange());
  };
  try {
    return await send();
  } catch (reason) {
    const isRefused = reason instanceof AnswerError && [401, 403].includes(reason.status);
    if (isRefused && (await askForNewWord())) return send();
    throw reason;
  }
}

/** Calls an endpoint that answers JSON, by its entry in the table of endpoints. */
export async function call<E extends Endpoint>(
  entry: E,
  input: CallInput<E>,
  signal?: AbortSignal,
): Promise<ResultOf<E>> {
  const { method, answer } = entry;
  if (answer.kind !== "json") throw new Error(`${entry.path} did not answer with JSON`);
  const { params, query, body } = input as AnyCallInput;
  const path = pathOfCall(entry, params, query);
  const answered =
    method === "GET"
      ? await ask(answer.shape, path, {
          headers: readHeaders(),
          ...(signal === undefined ? {} : { signal }),
        })
      : await tell(answer.shape, path, body, method);
  return answered as ResultOf<E>;
}

/** Like fetch, but throws a readable error when there is no answer. */
export async function reach(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (reason) {
    if (init.signal?.aborted === true) throw reason;
    throw new AnswerError(0, "unavailable", "the farm's server does not respond");
  }
}

export async function failureOf(response: Response): Promise<AnswerError> {
  // A proxy in front of the farm sends failures in its own format, not in JSON.
  const body = Failure.safeParse(await response.json().catch(() => undefined));
  return body.success
    ? new AnswerError(response.status, body.data.error.code, body.data.error.message)
    : new AnswerError(response.status, "internal", `the server answered ${response.status}`);
}
