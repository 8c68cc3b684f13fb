/** Reads the standard variables of OpenTelemetry. */
export function readTracingVariables(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      name.startsWith("OTEL_") && value !== undefined ? [[name, value]] : [],
    ),
  );
}
