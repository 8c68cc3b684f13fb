import type { CatalogDetail } from "#api/catalog.ts";

/** Something of the definitions that is filled when a graph is made. */
export interface Hole {
  readonly name: string;
  readonly description: string;
  /** As the definitions say; undefined when a value must be given. */
  readonly default: unknown;
}

export interface Holes {
  readonly parameters: readonly Hole[];
  readonly switches: readonly Hole[];
  /** Graphs that the definitions name. */
  readonly graphs: readonly Hole[];
  /** Templates of single jobs. */
  readonly jobs: readonly Hole[];
}

/** The holes among a catalog's entries. Their bodies are definitions, and may say anything. */
export function holesOf(catalog: CatalogDetail | undefined): Holes {
  const entries = (kind: string) =>
    (catalog?.entries ?? [])
      .filter((entry) => entry.kind === kind)
      .map(({ name, body }): Hole => {
        const said = typeof body === "object" && body !== null ? body : {};
        const description = "description" in said ? String(said.description) : "";
        return { name, description, default: "default" in said ? said.default : undefined };
      });
  return {
    parameters: entries("parameter"),
    switches: entries("switch"),
    graphs: entries("graph"),
    jobs: entries("job"),
  };
}
