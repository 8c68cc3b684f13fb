/** A run that failed with this much of its memory in use may have failed for want of it. */
export const nearLimit = 0.85;
