import {
  create,
  type DescMessage,
  type DescMethod,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Fault } from "#core/fault.ts";
import type { CallContext } from "./call-context.ts";
import { decodeInTurns } from "./decode-request.ts";
import type { Payload } from "./frame.ts";
import type { IncomingMessages } from "./incoming-messages.ts";

/** One call as the server sees it: encoded messages in, encoded messages out. */
export interface ServerCall {
  readonly context: CallContext;
  readonly requests: IncomingMessages;
  /** Resolves when the client is ready for more. */
  readonly send: (message: Payload) => Promise<void>;
  /** Runs work on this number of bytes: at once when it is small, otherwise when the connection has its turn. */
  readonly inTurn: <T>(bytes: number, work: () => T | Promise<T>) => T | Promise<T>;
  /**
   * Creates and sends a response of about this number of bytes: at once when it is small, otherwise when the connection
   * has its turn and has read most of its earlier answers.
   */
  readonly sendInTurn: (bytes: number, make: () => Promise<Payload>) => Promise<void>;
}

/** A method of a service. When `serve` resolves, the call succeeds; when it throws, the call ends with a status. */
export interface Method {
  /** `/package.Service/Method`. */
  readonly path: string;
  /**
   * Whether nobody waits for its answer: long work of other connections does not rest while it runs. For calls that
   * idle programs make all the time.
   */
  readonly isBackground?: boolean;
  serve(call: ServerCall): Promise<void>;
}

/** The function that serves a method, by its kind. */
type HandlerOf<M> = M extends {
  methodKind: infer Kind extends keyof HandlerByKind<DescMessage, DescMessage>;
  input: infer I extends DescMessage;
  output: infer O extends DescMessage;
}
  ? HandlerByKind<I, O>[Kind]
  : never;

interface HandlerByKind<I extends DescMessage, O extends DescMessage> {
  unary: (request: MessageShape<I>, context: CallContext) => Promise<MessageInitShape<O>>;
  server_streaming: (
    request: MessageShape<I>,
    context: CallContext,
  ) => AsyncIterable<MessageInitShape<O>>;
  client_streaming: (
    requests: AsyncIterable<MessageShape<I>>,
    context: CallContext,
  ) => Promise<MessageInitShape<O>>;
  bidi_streaming: (
    requests: AsyncIterable<MessageShape<I>>,
    context: CallContext,
  ) => AsyncIterable<MessageInitShape<O>>;
}

/** A generated service. Loosely said, so that the types of its methods are kept. */
interface ServiceShape {
  readonly typeName: string;
  readonly method: Readonly<Record<string, Pick<DescMethod, "input" | "output" | "methodKind">>>;
}

/** Handlers by method name. A method without a handler answers `unimplemented`. */
type HandlersOf<S extends ServiceShape> = {
  readonly [K in keyof S["method"]]?: HandlerOf<S["method"][K]>;
};

/** The methods of a service, from a handler for each. */
export function methodsOf<S extends ServiceShape>(service: S, handlers: HandlersOf<S>): Method[] {
  const methods: Method[] = [];
  for (const [name, handler] of Object.entries(handlers)) {
    const method = (service.method as Record<string, DescMethod>)[name];
    if (method === undefined) throw new Fault("internal", `${service.typeName} has no ${name}`);
    methods.push(typedMethod(method, handler as AnyHandler));
  }
  return methods;
}

/**
 * Returns a method whose handler gets encoded messages.
 *
 * For methods that transfer blobs: no object for each message, and no copy of the bytes.
 */
export function rawMethod(method: DescMethod, serve: (call: ServerCall) => Promise<void>): Method {
  return { path: pathOf(method), serve };
}

/** `/package.Service/Method`, as it stands in `:path`. */
export function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

// `HandlerOf` has tied handler and descriptor together; here, only the kind matters.
type AnyHandler = (request: unknown, context: CallContext) => unknown;
type AnyInit = MessageInitShape<DescMethod["output"]>;

function typedMethod(method: DescMethod, handler: AnyHandler): Method {
  const { input, output } = method;
  const encode = (init: unknown) => toBinary(output, create(output, init as AnyInit));
  const one = async (call: ServerCall) => decoded(call, await call.requests.only());
  const all = async function* (call: ServerCall) {
    for await (const bytes of call.requests) yield await decoded(call, bytes);
  };
  const sendEach = async (call: ServerCall, responses: unknown) => {
    for await (const response of responses as AsyncIterable<unknown>) {
      // Ends the generator, too: the loop calls its `return`.
      call.context.signal.throwIfAborted();
      await call.send(encode(response));
    }
  };
  const path = pathOf(method);
  switch (method.methodKind) {
    case "unary":
      return {
        path,
        async serve(call) {
          const bytes = await call.requests.only();
          const answer = async () =>
            encode(await handler(await decoded(call, bytes), call.context));
          await call.send(await call.inTurn(bytes.byteLength, answer));
        },
      };
    case "server_streaming":
      return {
        path,
        serve: async (call) => sendEach(call, handler(await one(call), call.context)),
      };
    case "client_streaming":
      return {
        path,
        serve: async (call) => call.send(encode(await handler(all(call), call.context))),
      };
    case "bidi_streaming":
      return { path, serve: async (call) => sendEach(call, handler(all(call), call.context)) };
  }
  function decoded({ context }: ServerCall, bytes: Uint8Array) {
    return decodeInTurns(method, input, bytes, context.peer);
  }
}
