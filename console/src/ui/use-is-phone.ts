import { Grid } from 'antd';

/** Whether the window is as narrow as a phone, where lists take the place of tables. */
export const useIsPhone = () => !(Grid.useBreakpoint().md ?? window.innerWidth >= 768);
