import { expect, test } from "vitest";
import { wantsTracing } from "./open-tracing.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

test.each([
  { environment: {}, wanted: false },
  { environment: { OTEL_EXPORTER_OTLP_ENDPOINT: "" }, wanted: false },
  { environment: endpoint, wanted: true },
  {
    environment: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://127.0.0.1:4318/v1/traces" },
    wanted: true,
  },
  { environment: { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" }, wanted: true },
  { environment: { ...endpoint, OTEL_TRACES_EXPORTER: "none" }, wanted: false },
  { environment: { ...endpoint, OTEL_SDK_DISABLED: "true" }, wanted: false },
])("with $environment, traces are wanted: $wanted", ({ environment, wanted }) => {
  expect(wantsTracing(environment)).toBe(wanted);
});

test("a protocol that the exporter does not have is refused, with what to do", () => {
  expect(() => wantsTracing({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toThrow(
    /"grpc", and traces are sent only as http\/protobuf: remove the variable/,
  );
});
