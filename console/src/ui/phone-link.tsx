/** A phone number that the device dials when it is clicked. A comma makes it wait before it dials the extension. */
export function PhoneLink({ phone }: { phone: string }) {
  const number = phone.replace(/转|ext\.?|x/i, ',').replace(/[^\d+*#,;]/g, '');
  return <a href={`tel:${number}`}>{phone}</a>;
}
