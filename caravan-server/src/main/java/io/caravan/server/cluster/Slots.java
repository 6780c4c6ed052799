package io.caravan.server.cluster;

import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * The slots into which Redis's clients divide names. All names with the same text between the first <code>{</code> and
 * the next <code>}</code> are in one.
 *
 * @see <a href="https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/">Redis cluster specification,
 *     key distribution model</a>
 */
public final class Slots {
    /** Slots are numbered from 0 to one below this. */
    public static final int COUNT = 16_384;

    private Slots() {}

    /** The slot of a name. */
    public static int of(byte[] name) {
        return JedisClusterCRC16.getSlot(name);
    }

    /** The group of a name, from 0, when the slots are divided into so many groups, each with consecutive ones. */
    public static int group(byte[] name, int groups) {
        return of(name) * groups / COUNT;
    }
}
