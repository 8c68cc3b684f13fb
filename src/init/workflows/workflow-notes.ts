/** A way in which a converted job differs from the job of its workflow. */
export type WorkflowNote =
  /** Debian packages that the workflow installs, and that the workers must have. */
  | { readonly kind: "packages"; readonly names: readonly string[] }
  | {
      readonly kind: "own-program";
      readonly program: string;
      readonly version: string | undefined;
    }
  /** Hosts from which the workers must be allowed to pull images. */
  | { readonly kind: "registries"; readonly names: readonly string[] }
  | { readonly kind: "text"; readonly text: string };

/** Notes about the same thing, in any workflow. */
interface Topic {
  readonly files: Set<string>;
  readonly values: Set<string>;
  readonly sentence: (values: readonly string[]) => string;
}

/** Returns one line for each thing to know, with the workflows that it concerns. */
export function noteLines(
  notes: readonly { readonly file: string; readonly note: WorkflowNote }[],
): string[] {
  const topics = new Map<string, Topic>();
  for (const { file, note } of notes) {
    const { key, values, sentence } = topicOf(note);
    const topic = topics.get(key) ?? { files: new Set(), values: new Set(), sentence };
    topics.set(key, topic);
    topic.files.add(file);
    for (const value of values) topic.values.add(value);
  }
  return [...topics.values()].map(
    ({ files, values, sentence }) => `${[...files].join(", ")}: ${sentence([...values])}`,
  );
}

function topicOf(note: WorkflowNote): {
  readonly key: string;
  readonly values: readonly string[];
  readonly sentence: (values: readonly string[]) => string;
} {
  switch (note.kind) {
    case "packages":
      return {
        key: "packages",
        values: note.names,
        sentence: (names) => `install on the workers: ${names.join(" ")}`,
      };
    case "own-program":
      return {
        key: `program ${note.program}`,
        values: note.version === undefined ? [] : [note.version],
        sentence: (versions) =>
          `jobs use the worker's ${note.program}${versions.length === 0 ? "" : `, whatever version the workflow names (${versions.join(", ")})`}`,
      };
    case "registries":
      return {
        key: "registries",
        values: note.names,
        sentence: (names) =>
          `jobs run container images; allow them: GRANGE_WORKER_REGISTRIES=${names.join(",")}`,
      };
    case "text":
      return { key: `text ${note.text}`, values: [], sentence: () => note.text };
  }
}
