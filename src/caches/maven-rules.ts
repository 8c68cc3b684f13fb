import { Fault } from "#core/fault.ts";
import { plainLookup, plainRules } from "./plain-rules.ts";
import type { CacheRequest, Lookup, ToolRules } from "./tool-rules.ts";

const form = "VERSION/GROUP/ARTIFACT/CHECKSUM/FILE";

/**
 * The files of Maven's build cache extension: `v1.1/GROUP/ARTIFACT/CHECKSUM/FILE`. The checksum names the inputs of a
 * module. `buildinfo.xml` lists the module's other files, so Maven writes it last and reads it first. A report of each
 * build has the build's UUID in place of the checksum.
 *
 * The same inputs may be built again with other times in the files, and so with other bytes: the last value is kept.
 */
export const mavenRules: ToolRules = {
  ...plainRules,
  lookupOf({ method, path, isFolder }: CacheRequest): Lookup {
    const key = path.join("/");
    const [version = "", group = "", artifact = "", checksum = "", file = "", ...more] = path;
    const isKey =
      /^v\d{1,3}(\.\d{1,3}){0,2}$/.test(version) &&
      [group, artifact].every((id) => /^[A-Za-z0-9._-]{1,255}$/.test(id)) &&
      /^[0-9A-Za-z-]{1,128}$/.test(checksum) &&
      file !== "" &&
      more.length === 0;
    if (isFolder || !isKey) {
      throw new Fault(
        "invalid_argument",
        `"${key}" is not a file of Maven's build cache, which has ${form}`,
      );
    }
    return plainLookup(method, key, ["GET", "HEAD", "PUT"]);
  },
};
