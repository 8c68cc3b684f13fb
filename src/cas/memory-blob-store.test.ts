import { describeBlobStore } from "./blob-store.fixture.ts";
import { memoryBlobStore } from "./memory-blob-store.ts";

describeBlobStore("memory", memoryBlobStore);
