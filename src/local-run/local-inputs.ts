import { readdirSync } from "node:fs";
import { join } from "node:path";
import { toBinary } from "@bufbuild/protobuf";
import { outputOf } from "#actions/output-of.ts";
import { outputTrees } from "#actions/output-trees.ts";
import { buildDirectoryTree, uploadDirectories } from "#cas/build-directory-tree.ts";
import { layOver } from "#cas/lay-over.ts";
import type { Overlay } from "#cas/merge-trees.ts";
import { problemOfContainedTarget } from "#cas/path-rules.ts";
import type { TreeEntry, TreePart } from "#cas/tree-entry.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { JobDefinition, Need } from "#definitions/job-definition.ts";
import { chooseFoundInputs } from "#graphs/approximations/choose-found-inputs.ts";
import { readInputList } from "#graphs/approximations/read-input-list.ts";
import { rulesOf } from "#graphs/approximations/take-found-inputs.ts";
import { selectInputs } from "#graphs/select-inputs.ts";
import { takeOutputs } from "#graphs/take-outputs.ts";
import {
  type ActionResult,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { CheckoutBlobs } from "./checkout-blobs.ts";
import type { FileDigests } from "./file-digests.ts";
import { entryAt, type WorkingEntry } from "./working-tree.ts";

/** The place of the outputs of a needed job. */
export type NeededOutputs =
  | { readonly kind: "made"; readonly result: ActionResult | undefined }
  /** The outputs are in the checkout, at the paths in the definition. */
  | { readonly kind: "in-checkout"; readonly outputs: readonly string[] }
  /** The job has no outputs, or failed and is not waited for. */
  | { readonly kind: "none" };

interface LocalInputServices {
  readonly root: string;
  readonly files: readonly WorkingEntry[];
  readonly digests: FileDigests;
  readonly store: CheckoutBlobs;
}

/**
 * Builds the input trees of jobs: the files of the checkout that match their `inputs`, and the outputs of the jobs that
 * they need, at their paths.
 */
export class LocalInputs {
  readonly #services: LocalInputServices;
  /** Directories of the checkout that are outputs, each read once. */
  readonly #directories = new Map<string, Promise<TreePart>>();

  constructor(services: LocalInputServices) {
    this.#services = services;
  }

  /**
   * Builds the tree of a job and returns its digest. `outputsOf` returns the place of the outputs of each needed job.
   *
   * @param every Whether all files of the checkout are put into the tree, regardless of `inputs`.
   */
  async rootOf(
    definition: JobDefinition,
    outputsOf: (job: string) => NeededOutputs,
    { every = false }: { readonly every?: boolean } = {},
  ): Promise<Digest> {
    const { store, files } = this.#services;
    const chosen = every ? files : await this.filesOf(definition, outputsOf);
    const base = await this.#entries(chosen);
    const overlays = await Promise.all(
      Object.entries(definition.needs ?? {})
        .filter(([, need]) => need.outputs?.length !== 0)
        .map(([from, need]) => this.#overlay(from, need, outputsOf(from))),
    );
    const parts = await layOver(store, base, overlays);
    return uploadDirectories(store, buildDirectoryTree(parts));
  }

  /** Returns the files of the checkout that a job declares, or that a trace has found for it. */
  async filesOf(
    definition: JobDefinition,
    outputsOf: (job: string) => NeededOutputs,
  ): Promise<readonly WorkingEntry[]> {
    const { files } = this.#services;
    const from = definition["inputs-from"];
    if (from === undefined) return selectInputs(files, definition.inputs);
    const named = `"${from.output}" of job "${from.job}", which finds the inputs,`;
    const bytes = await this.#bytesOf(outputsOf(from.job), from.output);
    if (bytes === undefined) throw new Fault("failed_precondition", `${named} is not there`);
    return chooseFoundInputs(files, rulesOf(definition), readInputList(bytes, named), named);
  }

  async #bytesOf(needed: NeededOutputs, path: string): Promise<Uint8Array | undefined> {
    const { root, store } = this.#services;
    switch (needed.kind) {
      case "none":
        return undefined;
      case "in-checkout": {
        const found = entryAt(root, path);
        return found?.kind === "file" ? store.get(await this.#digestOf(found)) : undefined;
      }
      case "made": {
        const made = needed.result && (await outputOf(store, needed.result, path));
        const [entry] = made ?? [];
        return entry?.kind === "file" ? store.get(entry.digest) : undefined;
      }
    }
  }

  async #overlay(from: string, need: Need, needed: NeededOutputs): Promise<Overlay> {
    const at = need.at ?? "";
    switch (needed.kind) {
      case "none":
        return { at, from: `job "${from}"`, entries: [] };
      case "made": {
        const bytes = needed.result && toBinary(ActionResultSchema, needed.result);
        const made = { job: from, outcome: "succeeded" as const, result: bytes ?? null };
        return takeOutputs(outputTrees(this.#services.store), from, need, made);
      }
      case "in-checkout": {
        const paths = need.outputs ?? needed.outputs;
        const entries = await Promise.all(paths.map((path) => this.#partAt(path)));
        return { at, from: `job "${from}"`, entries };
      }
    }
  }

  #partAt(path: string): Promise<TreePart> {
    const reading = this.#directories.get(path) ?? this.#readPart(path);
    this.#directories.set(path, reading);
    return reading;
  }

  async #readPart(path: string): Promise<TreePart> {
    const { root, store } = this.#services;
    const single = entryAt(root, path);
    if (single !== undefined) {
      const [entry] = await this.#entries([single]);
      if (entry !== undefined) return entry;
    }
    const below: WorkingEntry[] = [];
    const empty: TreeEntry[] = [];
    const walk = (directory: string) => {
      const names = readdirSync(join(root, path, directory));
      if (names.length === 0 && directory !== "")
        empty.push({ kind: "directory", path: directory });
      for (const name of names) {
        const at = directory === "" ? name : `${directory}/${name}`;
        const found = entryAt(root, `${path}/${at}`);
        if (found !== undefined) below.push(found);
        else if (isDirectory(join(root, path, at))) walk(at);
      }
    };
    walk("");
    const entries = (await this.#entries(below))
      .map((entry) => ({ ...entry, path: entry.path.slice(path.length + 1) }))
      // A link out of the output, such as npm makes for a workspace, is not a part of an output tree.
      .filter(
        (entry) => entry.kind !== "symlink" || !problemOfContainedTarget(entry.path, entry.target),
      );
    const digest = await uploadDirectories(store, buildDirectoryTree([...entries, ...empty]));
    return { kind: "subtree", path, digest };
  }

  #entries(files: readonly WorkingEntry[]): Promise<TreeEntry[]> {
    return mapAtMost(16, files, async (file): Promise<TreeEntry> => {
      if (file.kind === "symlink") return file;
      const { path, executable } = file;
      return { kind: "file", path, executable, digest: await this.#digestOf(file) };
    });
  }

  async #digestOf({ path, version }: Extract<WorkingEntry, { kind: "file" }>): Promise<Digest> {
    const { root, digests, store } = this.#services;
    const at = join(root, path);
    const digest = await digests.digestOf(at, version);
    store.serve(digest, at);
    return digest;
  }
}

function isDirectory(path: string): boolean {
  try {
    readdirSync(path);
    return true;
  } catch {
    return false;
  }
}
