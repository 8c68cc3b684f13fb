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
import {
  Client,
  type ClientReadableStream,
  credentials,
  Metadata,
  type ServiceError,
} from "@grpc/grpc-js";

/** Metadata of a call. */
export type Headers = Readonly<Record<string, string | Buffer>>;

/** Messages of a stream, one at a time. Throws the stream's gRPC status if it is not OK. */
export interface Incoming<T> {
  next(): Promise<T>;
  /** Returns all remaining messages. */
  rest(): Promise<T[]>;
  /** Cuts the stream, like a lost network. */
  cut(): void;
}

/** Uses another implementation of gRPC: a deviation that Grange's client and server share causes a failure here. */
export interface ForeignClient {
  unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    message: MessageInitShape<I>,
    headers?: Headers,
  ): Promise<MessageShape<O>>;
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    message: MessageInitShape<I>,
    headers?: Headers,
  ): Incoming<MessageShape<O>>;
  /** Sends all messages, then reads the one response. Without an end, the stream is cut after the last message. */
  upload<I extends DescMessage, O extends DescMessage>(
    method: DescMethodClientStreaming<I, O>,
    messages: readonly MessageInitShape<I>[],
    headers?: Headers,
    end?: "end" | "cut",
  ): Promise<MessageShape<O>>;
  /** Sends all messages and ends its side. */
  converse<I extends DescMessage, O extends DescMessage>(
    method: DescMethodBiDiStreaming<I, O>,
    messages: readonly MessageInitShape<I>[],
    headers?: Headers,
  ): Incoming<MessageShape<O>>;
  close(): void;
}

export function foreignClient(url: string): ForeignClient {
  const { host } = new URL(url);
  const client = new Client(host, credentials.createInsecure());
  return {
    unary: (method, message, headers = {}) =>
      new Promise((resolve, reject) => {
        client.makeUnaryRequest(
          pathOf(method),
          encoder(method.input),
          decoder(method.output),
          create(method.input, message),
          metadataOf(headers),
          settle(resolve, reject),
        );
      }),

    stream: (method, message, headers = {}) =>
      incoming(
        client.makeServerStreamRequest(
          pathOf(method),
          encoder(method.input),
          decoder(method.output),
          create(method.input, message),
          metadataOf(headers),
        ),
      ),

    upload: (method, messages, headers = {}, end = "end") =>
      new Promise((resolve, reject) => {
        const call = client.makeClientStreamRequest(
          pathOf(method),
          encoder(method.input),
          decoder(method.output),
          metadataOf(headers),
          settle(resolve, reject),
        );
        // The server may respond before it has received all messages; later writes then fail.
        call.on("error", () => {});
        for (const message of messages) call.write(create(method.input, message));
        if (end === "end") call.end();
        else setTimeout(() => call.cancel(), 100);
      }),

    converse(method, messages, headers = {}) {
      const call = client.makeBidiStreamRequest(
        pathOf(method),
        encoder(method.input),
        decoder(method.output),
        metadataOf(headers),
      );
      for (const message of messages) call.write(create(method.input, message));
      call.end();
      return incoming(call);
    },

    close: () => client.close(),
  };
}

function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

function encoder<S extends DescMessage>(schema: S) {
  return (message: MessageShape<S>) => Buffer.from(toBinary(schema, message));
}

function decoder<S extends DescMessage>(schema: S) {
  return (bytes: Buffer) => fromBinary(schema, bytes);
}

function metadataOf(headers: Headers): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}

function settle<T>(resolve: (value: T) => void, reject: (reason: Error) => void) {
  return (error: ServiceError | null, value: T | undefined) => {
    if (error !== null) reject(error);
    else if (value === undefined) reject(new Error("the call ended well and answered nothing"));
    else resolve(value);
  };
}

function incoming<T>(call: ClientReadableStream<T>): Incoming<T> {
  const messages = call[Symbol.asyncIterator]() as AsyncIterator<T, undefined>;
  return {
    async next() {
      const { value, done } = await messages.next();
      if (done === true) throw new Error("the stream ended before that");
      return value as T;
    },
    async rest() {
      const all: T[] = [];
      for (let each = await messages.next(); each.done !== true; each = await messages.next()) {
        all.push(each.value);
      }
      return all;
    },
    cut() {
      call.on("error", () => {});
      call.cancel();
    },
  };
}

/** Returns the error of a refused call. Fails if the call was not refused. */
export async function refusal(call: Promise<unknown>): Promise<ServiceError> {
  try {
    await call;
  } catch (reason) {
    if (reason instanceof Error && "code" in reason && "metadata" in reason) {
      return reason as ServiceError;
    }
    throw reason;
  }
  throw new Error("the call went well, and should have been refused");
}
