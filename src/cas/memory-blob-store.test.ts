import { describeBlobStore } from "./blob-store.conformance.ts";
import { memoryBlobStore } from "./memory-blob-store.ts";

describeBlobStore("memory", memoryBlobStore);
