// What an installation is told from outside, and tells: it says what it does, and it can be cancelled.

export interface Work {
  /** Take a line for the log. */
  said(line: string): void;
  /** Take the words for what is done now, for the user. */
  stage(what: string): void;
  /** Aborted when the user cancels. */
  signal: AbortSignal;
}

/** Thrown where the user has cancelled. */
export class Cancelled extends Error {
  constructor() {
    super("The installation was cancelled.");
    this.name = "Cancelled";
  }
}
