package io.caravan.server.cluster;

import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * The hash slots into which Redis clients divide names. All names with the same text between the first <code>{</code>
 * and the next <code>}</code> are in one slot.
 *
 * @see <a href="https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/">Redis cluster
 *     specification, key distribution model</a>
 */
public final class Slots {
    /** The number of slots; they are numbered from 0. */
    public static final int COUNT = 16_384;

    private Slots() {}

    public static int of(byte[] name) {
        return JedisClusterCRC16.getSlot(name);
    }

    /**
     * Returns the group of a name, from 0, if the slots are divided into this number of groups of consecutive slots.
     */
    public static int group(byte[] name, int groups) {
        return of(name) * groups / COUNT;
    }
}
