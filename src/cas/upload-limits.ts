/** Limits for the stored parts of interrupted uploads. */
export interface UploadLimits {
  readonly mostUploads: number;
  readonly mostBytes: number;
  readonly keptForMs: number;
}

export interface KeptUpload {
  readonly name: string;
  readonly sizeBytes: number;
  readonly writtenAtMs: number;
}

/** Returns the uploads to delete: the old ones, and of the rest the oldest above the limits. */
export function tooMany(
  all: readonly KeptUpload[],
  { mostUploads, mostBytes, keptForMs }: UploadLimits,
  nowMs: number,
): KeptUpload[] {
  let bytes = 0;
  let uploads = 0;
  return all
    .toSorted((a, b) => b.writtenAtMs - a.writtenAtMs)
    .filter(({ sizeBytes, writtenAtMs }) => {
      const fits =
        nowMs - writtenAtMs <= keptForMs && uploads < mostUploads && bytes + sizeBytes <= mostBytes;
      if (fits) {
        uploads++;
        bytes += sizeBytes;
      }
      return !fits;
    });
}
