/** Returns Node's arguments that run grange again in the same form: the bundle, or the sources through tsx. */
export function grangeCommand(entry: string): string[] {
  return entry.endsWith(".ts") ? ["--import", import.meta.resolve("tsx"), entry] : [entry];
}
