/** One step in composing the root file system of a job, in order. All of it is read-only but `empty`. */
export type ViewStep =
  | { readonly kind: "show"; readonly path: string; readonly from: string }
  | { readonly kind: "link"; readonly path: string; readonly target: string }
  | { readonly kind: "empty"; readonly path: string };

/** Makes the root file system that jobs find around their input tree. */
export interface ImageProvider {
  /** Returns the steps that a sandbox composes it from. Files that it needs are written below `runDir`. */
  rootFileSystem(runDir: string): Promise<readonly ViewStep[]>;
}
