import type { Logger } from "pino";
import { Fault } from "#core/fault.ts";
import type { Tracing } from "./tracing.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The protocol of the exporter: OTLP with protobuf over HTTP, which is also the default of the specification. */
const supportedProtocol = "http/protobuf";

/**
 * Returns whether the standard variables of OpenTelemetry ask for traces. Throws `invalid_argument` for a protocol that
 * the exporter does not have.
 */
export function wantsTracing(environment: Environment): boolean {
  const {
    OTEL_SDK_DISABLED: disabled = "",
    OTEL_TRACES_EXPORTER: exporter = "otlp",
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint = "",
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ofTraces = "",
    OTEL_EXPORTER_OTLP_PROTOCOL: protocolOfAll = "",
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocolOfTraces = "",
  } = environment;
  if (disabled.toLowerCase() === "true" || exporter === "none") return false;
  if (endpoint === "" && ofTraces === "") return false;
  const protocol = protocolOfTraces || protocolOfAll || supportedProtocol;
  if (protocol !== supportedProtocol) {
    throw new Fault(
      "invalid_argument",
      `OTEL_EXPORTER_OTLP_PROTOCOL is "${protocol}", and traces are sent only as ${supportedProtocol}: ` +
        "remove the variable, and use the HTTP port of the collector (usually 4318)",
    );
  }
  return true;
}

/**
 * Opens tracing if the standard variables of OpenTelemetry ask for it. Without it, nothing is loaded.
 *
 * @param about.service the default of OTEL_SERVICE_NAME
 */
export async function openTracing(
  about: { readonly service: string; readonly version: string; readonly logger: Logger },
  environment: Environment,
): Promise<Tracing | undefined> {
  if (!wantsTracing(environment)) return undefined;
  const { openTelemetryTracing } = await loadSdk();
  return openTelemetryTracing(about);
}

/** Throws `failed_precondition` for a program that was built without the SDK, as `npm start` builds it. */
async function loadSdk() {
  try {
    return await import("./open-telemetry-tracing.ts");
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND"))
      throw cause;
    throw new Fault(
      "failed_precondition",
      "OTEL_EXPORTER_OTLP_ENDPOINT is set, and this program was built without the SDK of OpenTelemetry: " +
        "run `npm ci` and `npm run build -- --force` in the checkout, or use the package or the image of Grange",
      { cause },
    );
  }
}
