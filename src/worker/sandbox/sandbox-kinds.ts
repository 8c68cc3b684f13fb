import { bubblewrapKind } from "./bubblewrap/bubblewrap.ts";
import { namespacesKind } from "./namespaces/namespaces.ts";
import { noSandboxKind } from "./none/no-sandbox.ts";
import type { SandboxKind } from "./sandbox-kind.ts";

/** The kinds of sandboxes, in the order in which a worker tries them: the strictest and fastest first. */
export const sandboxKinds: readonly SandboxKind[] = [bubblewrapKind, namespacesKind, noSandboxKind];
