import { html } from "../dom.ts";

/** Asks before something is done; true when it was agreed to. Escape and Cancel say no, and focus goes back. */
export function confirmThat(question: string, consequence: string, action: string): Promise<boolean> {
  const agree = html("button", { value: "yes", class: "primary", text: action });
  const cancel = html("button", { value: "no", text: "Cancel" });
  const form = html(
    "form",
    { method: "dialog" },
    html("h2", { id: "question", text: question }),
    html("p", { id: "consequence", text: consequence }),
    html("div", { class: "buttons" }, cancel, agree),
  );
  const dialog = html("dialog", { "aria-labelledby": "question", "aria-describedby": "consequence" }, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
