// The conversation that questions belong to: the service keeps them under an id made up here, for this page alone.
import { forgetConversation } from "./service.js";

/** The id of the conversation. */
export let conversationId = madeUp();

/** Begin another conversation; the service forgets the one before. */
export function renew() {
  forgetConversation(conversationId);
  conversationId = madeUp();
}

/** A random id; `randomUUID` is not there without HTTPS beyond this machine. */
function madeUp() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
