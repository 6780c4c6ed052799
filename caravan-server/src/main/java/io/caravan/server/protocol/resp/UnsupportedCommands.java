package io.caravan.server.protocol.resp;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Adds advice to the error replies for Redis commands that Caravan lacks. */
final class UnsupportedCommands {
    /** Length of an error message, in characters, at which no more arguments are added; Redis has a similar limit. */
    private static final int MAX_CHARS = 256;

    /** The advice for each command, by command name. */
    static final Map<String, String> ADVICE = advice("""
            LPUSH LPUSHX LINSERT = values are appended at the tail only: use RPUSH
            LREM LMPOP = values are trimmed from the head only: use LPOP or LTRIM
            RPOP = values are trimmed from the head only, and no sequence is assigned twice: use LPOP for the oldest \
                value, or LINDEX key -1 to read the newest one
            BRPOP = values are trimmed from the head only, and no sequence is assigned twice: use BLPOP for the \
                oldest value, or CARAVAN.READ with BLOCK to read the next values
            LSET = values never change: append another one with RPUSH
            LMOVE RPOPLPUSH BLMOVE BRPOPLPUSH = values stay in their document: use LPOP, and RPUSH onto the other \
                one
            BLMPOP = use BLPOP, which removes one value, and LPOP with a count for more
            LPOS = use LRANGE, and search the values
            SET GET MSET MGET MSETNX SETNX SETEX PSETEX GETSET GETDEL GETEX APPEND STRLEN SETRANGE GETRANGE INCR \
                INCRBY DECR DECRBY INCRBYFLOAT SETBIT GETBIT = documents hold lists: use RPUSH, and LINDEX key -1 for \
                the newest value
            HSET HGET HMSET HMGET HGETALL HDEL HINCRBY SADD SREM SMEMBERS SISMEMBER SCARD ZADD ZRANGE ZREM ZSCORE \
                ZCARD PFADD PFCOUNT GEOADD = documents hold lists: keep a document for each field, or a value for each \
                change
            SSUBSCRIBE = use SUBSCRIBE, or CARAVAN.READ with BLOCK, which loses nothing
            SUNSUBSCRIBE = use UNSUBSCRIBE
            SPUBLISH PUBSUB = use PUBLISH, whose reply is the number of receivers
            XADD = use RPUSH
            XREAD XRANGE XREVRANGE XREADGROUP = use CARAVAN.READ, with BLOCK to wait
            XLEN = use LLEN
            XTRIM XDEL = use CARAVAN.TRIM
            WATCH UNWATCH EVAL EVALSHA EVAL_RO SCRIPT FCALL FUNCTION = use CARAVAN.APPEND with IFSEQ, which fails if \
                the document has changed, also within MULTI
            RENAME RENAMENX COPY MOVE SWAPDB DUMP RESTORE MIGRATE = a document keeps its name: read it, append to \
                the other one, and DEL
            FLUSHALL FLUSHDB = delete with SCAN and DEL
            RANDOMKEY SORT SORT_RO = use SCAN
            DEBUG = use CARAVAN.INFO
            SHUTDOWN = stop the process with SIGTERM
            REPLICAOF SLAVEOF ROLE CLUSTER PSYNC SYNC FAILOVER = there is one server, and no replicas
            ACL = users are in the server's configuration
            MONITOR LATENCY = use INFO or SLOWLOG
            BGREWRITEAOF = there is no append-only file to rewrite: use BGSAVE
            """);

    private UnsupportedCommands() {}

    private static Map<String, String> advice(String table) {
        Map<String, String> advice = new HashMap<>();
        for (String line : table.lines().toList()) {
            String[] row = line.replaceAll(" +", " ").split(" = ");
            List.of(row[0].split(" ")).forEach(command -> advice.put(command, row[1]));
        }
        return advice;
    }

    /** Returns Redis's error for an unknown command, with advice on what to use instead. */
    static Reply.Error unknown(Command command) {
        StringBuilder text = new StringBuilder("ERR unknown command '")
                .append(command.shortText(0))
                .append("', with args beginning with: ");
        for (int i = 1; i < command.size() && text.length() < MAX_CHARS; i++) {
            text.append('\'').append(command.shortText(i)).append("' ");
        }
        @Nullable String advice = ADVICE.get(command.keyword(0));
        if (advice != null) {
            text.append("; ").append(advice);
        }
        return new Reply.Error(text.toString());
    }
}
