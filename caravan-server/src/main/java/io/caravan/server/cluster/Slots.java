package io.caravan.server.cluster;

/**
 * The hash slots to which Redis clients map names. All names with the same text between the first <code>{</code> and
 * the next <code>}</code> are in one slot.
 *
 * @see <a href="https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/">Redis cluster
 *     specification, key distribution model</a>
 */
public final class Slots {
    /** The number of slots; they are numbered from 0. */
    public static final int COUNT = 16_384;

    private static final int POLYNOMIAL = 0x1021;
    private static final int[] CRC_OF_BYTE = new int[256];

    static {
        for (int i = 0; i < CRC_OF_BYTE.length; i++) {
            int crc = i << 8;
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                crc = (crc & 0x8000) == 0 ? crc << 1 : crc << 1 ^ POLYNOMIAL;
            }
            CRC_OF_BYTE[i] = crc & 0xFFFF;
        }
    }

    private Slots() {}

    public static int of(byte[] name) {
        int open = indexOf(name, '{', 0);
        int close = open < 0 ? -1 : indexOf(name, '}', open + 1);
        boolean tagged = close > open + 1;
        int crc = 0;
        for (int i = tagged ? open + 1 : 0; i < (tagged ? close : name.length); i++) {
            crc = (crc << 8 ^ CRC_OF_BYTE[(crc >>> 8 ^ name[i]) & 0xFF]) & 0xFFFF;
        }
        return crc % COUNT;
    }

    private static int indexOf(byte[] name, char wanted, int from) {
        for (int i = from; i < name.length; i++) {
            if (name[i] == wanted) {
                return i;
            }
        }
        return -1;
    }

    /** Returns the index of a name's group, from 0, if {@code groups} groups each have a range of consecutive slots. */
    public static int group(byte[] name, int groups) {
        return of(name) * groups / COUNT;
    }
}
