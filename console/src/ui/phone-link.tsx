/** A phone number that the device dials when it is clicked. A comma makes it wait before it dials the extension. */
export function PhoneLink({ phone }: { phone: string }) {
  const number = phone
    .replace(/转|ext\.?|x/i, ',')
    // The service codes of networks contain # too: *#06#.
    .replace(/^([^*#]*\d\s*)#(?=\s*\d{1,6}\s*$)/, '$1,')
    .replace(/[^\d+*#,;]/g, '')
    .replaceAll('#', '%23');
  return <a href={`tel:${number}`}>{phone}</a>;
}
