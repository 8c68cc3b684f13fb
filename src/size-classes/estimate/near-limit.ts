/** A run that failed with this share of its memory in use may have failed because of too little memory. */
export const nearLimit = 0.85;
