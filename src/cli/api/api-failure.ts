import { Failure } from "#api/failure.ts";
import { Fault, type FaultCode, messageOf } from "#core/fault.ts";
import { adviceOnTrust } from "#grpc/authorities.ts";

export type Problem = NonNullable<Failure["error"]["problems"]>[number];

/** The server understood the request and refused it. */
export class ApiFailure extends Fault {
  /** The server's own code for it; codes that this version does not know count as internal. */
  readonly status: number;
  /** The problems in the user's own files. */
  readonly problems: readonly Problem[];

  constructor(status: number, code: FaultCode, message: string, problems: readonly Problem[]) {
    super(code, message);
    this.status = status;
    this.problems = problems;
  }
}

/** No server listens at the address, or the connection broke before an answer. */
export class ServerUnreachable extends Fault {
  readonly serverUrl: string;

  constructor(serverUrl: string, cause: unknown) {
    super("unavailable", `there is no Grange server at ${serverUrl}${reasonOf(cause)}`, { cause });
    this.serverUrl = serverUrl;
  }
}

/** Reads the body of an answer that is not 2xx; a body in another format is shown unchanged. */
export function failureOf(status: number, body: string): ApiFailure {
  const parsed = Failure.safeParse(jsonOr(body, undefined));
  if (parsed.success) {
    const { code, message, problems, requestId } = parsed.data.error;
    const where =
      requestId === undefined ? "" : ` (the log of the server has more: request ${requestId})`;
    return new ApiFailure(status, codeOf(code), `${message}${where}`, problems ?? []);
  }
  const excerpt = body.trim().slice(0, 200);
  const message = `the server answered ${status}${excerpt === "" ? "" : `: ${excerpt}`}`;
  return new ApiFailure(status, "internal", message, []);
}

const codes: Record<FaultCode, true> = {
  invalid_argument: true,
  not_found: true,
  already_exists: true,
  permission_denied: true,
  unauthenticated: true,
  failed_precondition: true,
  aborted: true,
  out_of_range: true,
  resource_exhausted: true,
  cancelled: true,
  deadline_exceeded: true,
  unimplemented: true,
  unavailable: true,
  data_loss: true,
  internal: true,
};

function codeOf(text: string): FaultCode {
  return Object.hasOwn(codes, text) ? (text as FaultCode) : "internal";
}

export function jsonOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** The first of a chain of causes: the code of the system call that failed. */
function reasonOf(cause: unknown): string {
  let reason: unknown = cause;
  while (reason instanceof Error && reason.cause !== undefined) reason = reason.cause;
  const code = (reason as NodeJS.ErrnoException | undefined)?.code;
  const advice = adviceOnTrust(code);
  if (advice !== undefined) return ` (${advice})`;
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return ` (${messageOf(reason)})`;
  if (code === "ECONNREFUSED") return " (no program listens there)";
  return code === undefined ? "" : ` (${code})`;
}
