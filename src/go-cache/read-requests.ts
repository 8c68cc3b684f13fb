import { Fault } from "#core/fault.ts";
import { GoRequest } from "./protocol.ts";

/** A request with its body, which must be read to its end before the next request is read. */
interface RequestWithBody {
  readonly request: GoRequest;
  readonly body: AsyncIterable<Uint8Array>;
}

/** No request of Go's has more than some hundred bytes. */
const longestLine = 65_536;
const newline = 0x0a;
const quote = 0x22;

/**
 * Yields the requests of a go command. Bodies are decoded while they arrive: the output of a link may have hundreds of
 * megabytes. Ends with the input.
 *
 * Throws `invalid_argument` for what is not the protocol.
 */
export async function* readRequests(
  input: AsyncIterable<Uint8Array>,
): AsyncGenerator<RequestWithBody, void, undefined> {
  const bytes = new InputBytes(input);
  for (;;) {
    const line = await bytes.line();
    if (line === undefined) return;
    // Go writes an empty line after each request.
    if (line.trim() === "") continue;
    const request = parsed(line);
    const hasBody = request.Command === "put" && request.BodySize > 0;
    const body = hasBody ? withoutReturn(bodyIn(bytes)) : nothing();
    yield { request, body };
    // The reader may have stopped early, for example on a full disk.
    if (hasBody) for await (const rest of body) void rest;
  }
}

function parsed(line: string): GoRequest {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw notTheProtocol("a line is not JSON", cause);
  }
  const request = GoRequest.safeParse(value);
  if (request.success) return request.data;
  throw notTheProtocol("a request has another shape", request.error);
}

/** Only the end of a body may be padded. */
const base64Form = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes a line with one JSON string in base64, which has no escapes. */
async function* bodyIn(bytes: InputBytes): AsyncGenerator<Uint8Array, void, undefined> {
  await bytes.skipTo(quote);
  let rest: Buffer = Buffer.alloc(0);
  let isPadded = false;
  for (;;) {
    const { piece, isLast } = await bytes.until(quote);
    const text = Buffer.concat([rest, piece]);
    // Four characters are three bytes.
    const whole = isLast ? text.byteLength : text.byteLength - (text.byteLength % 4);
    const groups = text.toString("latin1", 0, whole);
    // Node skips other characters: what it would decode then depends on where the pieces end.
    const isBase64 = whole % 4 === 0 && base64Form.test(groups);
    if (!isBase64 || (isPadded && whole > 0)) throw notTheProtocol("a body is not base64");
    if (whole > 0) yield Buffer.from(groups, "base64");
    if (isLast) return;
    isPadded ||= groups.endsWith("=");
    rest = text.subarray(whole);
  }
}

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {}

/** A reader that stops early does not end the generator: the rest of a body must be read before the next line. */
function withoutReturn<T>(generator: AsyncGenerator<T, void, undefined>): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => ({ next: () => generator.next() }) };
}

function notTheProtocol(what: string, cause?: unknown): Fault {
  return new Fault(
    "invalid_argument",
    `${what}: the input is not what a go command sends to GOCACHEPROG`,
    { cause },
  );
}

/** The input, read in pieces that end at certain bytes. */
class InputBytes {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #left: Buffer = Buffer.alloc(0);

  constructor(input: AsyncIterable<Uint8Array>) {
    this.#chunks = input[Symbol.asyncIterator]();
  }

  /** Returns the next line; undefined at the end of the input, also within a line: its writer was killed. */
  async line(): Promise<string | undefined> {
    for (;;) {
      const at = this.#left.indexOf(newline);
      if (at >= 0) {
        const line = this.#left.toString("utf8", 0, at);
        this.#left = this.#left.subarray(at + 1);
        return line;
      }
      if (this.#left.byteLength > longestLine) throw notTheProtocol("a line is too long");
      if (!(await this.#more())) return undefined;
    }
  }

  /** Reads up to and with a byte, before which only white space may be. */
  async skipTo(byte: number): Promise<void> {
    for (let isHere = false; !isHere; ) {
      const { piece, isLast } = await this.until(byte);
      if (piece.toString("latin1").trim() !== "") throw notTheProtocol("a body is not a string");
      isHere = isLast;
    }
  }

  /** Returns what is here, at most up to a byte, which is read and left out. */
  async until(byte: number): Promise<{ readonly piece: Buffer; readonly isLast: boolean }> {
    if (this.#left.byteLength === 0 && !(await this.#more())) {
      throw notTheProtocol("the input ends within a body");
    }
    const at = this.#left.indexOf(byte);
    const isLast = at >= 0;
    const piece = isLast ? this.#left.subarray(0, at) : this.#left;
    this.#left = isLast ? this.#left.subarray(at + 1) : Buffer.alloc(0);
    return { piece, isLast };
  }

  async #more(): Promise<boolean> {
    const { value, done } = await this.#chunks.next();
    if (done === true) return false;
    const chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    this.#left = this.#left.byteLength === 0 ? chunk : Buffer.concat([this.#left, chunk]);
    return true;
  }
}
