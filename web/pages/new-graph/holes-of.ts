import type { CatalogDetail } from "#api/catalog.ts";

/** A placeholder in the definitions, which gets a value when a graph is created. */
export interface Hole {
  readonly name: string;
  readonly description: string;
  /** The default in the definitions; undefined when a value is required. */
  readonly default: unknown;
}

export interface Holes {
  readonly parameters: readonly Hole[];
  readonly switches: readonly Hole[];
  /** The named graphs of the definitions. */
  readonly graphs: readonly Hole[];
  /** Templates of single jobs. */
  readonly jobs: readonly Hole[];
}

/** Returns the placeholders in a catalog's entries. Their bodies are definitions with any content. */
export function holesOf(catalog: CatalogDetail | undefined): Holes {
  const entries = (kind: string) =>
    (catalog?.entries ?? [])
      .filter((entry) => entry.kind === kind)
      .map(({ name, body }): Hole => {
        const attributes = typeof body === "object" && body !== null ? body : {};
        const description = "description" in attributes ? String(attributes.description) : "";
        return {
          name,
          description,
          default: "default" in attributes ? attributes.default : undefined,
        };
      });
  return {
    parameters: entries("parameter"),
    switches: entries("switch"),
    graphs: entries("graph"),
    jobs: entries("job"),
  };
}
