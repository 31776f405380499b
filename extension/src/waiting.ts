// Waiting for something that an event announces, for a while.

import type * as vscode from "vscode";

/**
 * Return what `look` finds, now or at one of the events; undefined if it finds nothing in time. It is
 * given the event, and nothing at the first look.
 */
export function happening<Found, Event>(
  event: vscode.Event<Event>,
  look: (event?: Event) => Found | undefined | Promise<Found | undefined>,
  milliseconds: number,
): Promise<Found | undefined> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(tooLate);
      listening.dispose();
      settle();
    };
    const lookAt = async (happened?: Event) => {
      try {
        const found = await look(happened);
        if (found !== undefined) {
          end(() => resolve(found));
        }
      } catch (error) {
        end(() => reject(error));
      }
    };
    const listening = event((happened) => void lookAt(happened));
    const tooLate = setTimeout(() => end(() => resolve(undefined)), milliseconds);
    void lookAt();
  });
}
