import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodBiDiStreaming,
  type DescMethodClientStreaming,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Fault } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import { activeTraceparent } from "#tracing/active-span.ts";
import { type ClientCall, openCall } from "./client-call.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import type { Payload } from "./frame.ts";
import { longestTimerMs } from "./grpc-timeout.ts";
import type { IncomingMessages } from "./incoming-messages.ts";
import { type Metadata, noMetadata } from "./metadata.ts";
import { pathOf } from "./method.ts";
import { writeFramed } from "./write-framed.ts";

/** One object for all, because it is costly to make and is needed also by calls that end well. */
const stoppedReading = new Fault("cancelled", "the caller stopped reading");

interface ChannelOptions extends ConnectionOptions {
  /** Metadata for every call; requested each time, because tokens change. */
  readonly metadata?: () => Metadata;
  readonly maxMessageBytes?: number;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Also tells the server, which then stops working on it. */
  readonly timeoutMs?: number;
  readonly metadata?: Metadata;
  readonly onHeaders?: (metadata: Metadata) => void;
  readonly onTrailers?: (metadata: Metadata) => void;
}

/**
 * Calls to one gRPC server.
 *
 * Every failure is a Fault with the code of its status. There are no retries here, because only the caller knows
 * whether they are safe. A call made while the server cannot be reached fails at once with `unavailable`;
 * `nextAttemptAt` says when another one has a chance.
 */
export class GrpcChannel implements Service {
  readonly #connection: Connection;
  readonly #options: ChannelOptions;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#connection = new Connection(options);
  }

  get nextAttemptAt(): Date {
    return this.#connection.notBefore;
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options: CallOptions = {},
  ): Promise<MessageShape<O>> {
    const bytes = toBinary(method.input, create(method.input, request));
    const response = await this.#call(method, [bytes], options, (responses) => responses.only());
    return fromBinary(method.output, response);
  }

  async *serverStream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    options: CallOptions = {},
  ): AsyncGenerator<MessageShape<O>> {
    const bytes = toBinary(method.input, create(method.input, request));
    for await (const response of this.raw(method, [bytes], options)) {
      yield fromBinary(method.output, response);
    }
  }

  async clientStream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodClientStreaming<I, O>,
    requests: AsyncIterable<MessageInitShape<I>>,
    options: CallOptions = {},
  ): Promise<MessageShape<O>> {
    const response = await this.rawClientStream(method, encoded(method.input, requests), options);
    return fromBinary(method.output, response);
  }

  async *bidi<I extends DescMessage, O extends DescMessage>(
    method: DescMethodBiDiStreaming<I, O>,
    requests: AsyncIterable<MessageInitShape<I>>,
    options: CallOptions = {},
  ): AsyncGenerator<MessageShape<O>> {
    for await (const response of this.raw(method, encoded(method.input, requests), options)) {
      yield fromBinary(method.output, response);
    }
  }

  /** Encoded messages in and out, for callers that move blobs. Ending the loop early cancels the call. */
  async *raw(method: DescMethod, requests: Requests, options: CallOptions = {}) {
    const call = await this.#open(method, options);
    const released = this.#guard(call, options);
    try {
      void sendAll(call, requests);
      yield* call.responses;
    } finally {
      released();
      call.cancel(stoppedReading);
    }
  }

  /** Encoded messages in, one encoded message out. */
  rawClientStream(
    method: DescMethod,
    requests: Requests,
    options: CallOptions = {},
  ): Promise<Uint8Array> {
    return this.#call(method, requests, options, (responses) => responses.only());
  }

  /** Ends the running calls, at once or after letting them finish for `graceMs`. */
  stop(graceMs = 0): Promise<void> {
    return this.#connection.stop(graceMs);
  }

  async #call<T>(
    method: DescMethod,
    requests: Requests,
    options: CallOptions,
    read: (responses: IncomingMessages) => Promise<T>,
  ): Promise<T> {
    const call = await this.#open(method, options);
    const released = this.#guard(call, options);
    try {
      void sendAll(call, requests);
      return await read(call.responses);
    } catch (reason) {
      call.cancel(Fault.from(reason, pathOf(method)));
      throw reason;
    } finally {
      released();
    }
  }

  async #open(method: DescMethod, options: CallOptions): Promise<ClientCall> {
    options.signal?.throwIfAborted();
    const session = await this.#connection.session();
    options.signal?.throwIfAborted();
    const traceparent = activeTraceparent();
    return openCall(session, {
      path: pathOf(method),
      metadata: {
        ...(this.#options.metadata?.() ?? noMetadata),
        ...options.metadata,
        // Last: a relayed call has the header of its client.
        ...(traceparent === undefined ? undefined : { traceparent }),
      },
      timeoutMs: options.timeoutMs,
      maxMessageBytes: this.#options.maxMessageBytes ?? 4 * 1_048_576 + 65_536,
      onHeaders: options.onHeaders,
      onTrailers: options.onTrailers,
    });
  }

  /** Ends the call at its deadline or when its signal is aborted. Returns a function that removes this guard. */
  #guard(call: ClientCall, { signal, timeoutMs }: CallOptions): () => void {
    const abort = () =>
      call.cancel(new Fault("cancelled", "the caller gave up", { cause: signal?.reason }));
    signal?.addEventListener("abort", abort, { once: true });
    const expire = () =>
      call.cancel(new Fault("deadline_exceeded", `no answer within ${timeoutMs} ms`));
    const timer =
      timeoutMs === undefined ? undefined : setTimeout(expire, Math.min(timeoutMs, longestTimerMs));
    return () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
  }
}

type Requests = AsyncIterable<Payload> | readonly Uint8Array[];

async function* encoded<I extends DescMessage>(
  input: I,
  requests: AsyncIterable<MessageInitShape<I>>,
): AsyncGenerator<Uint8Array> {
  for await (const request of requests) yield toBinary(input, create(input, request));
}

/** Sends all messages, then ends the request. An early response ends the sending, not the call. */
async function sendAll({ stream, cancel }: ClientCall, requests: Requests): Promise<void> {
  try {
    for await (const request of requests) {
      if (stream.destroyed || stream.writableEnded) return;
      await writeFramed(stream, request);
    }
    if (!stream.destroyed) stream.end();
  } catch (reason) {
    cancel(Fault.from(reason, "making the request"));
  }
}
