/** A phone number that the device dials when it is clicked. */
export function PhoneLink({ phone }: { phone: string }) {
  return <a href={`tel:${phone.replace(/[^\d+*#,;]/g, '')}`}>{phone}</a>;
}
