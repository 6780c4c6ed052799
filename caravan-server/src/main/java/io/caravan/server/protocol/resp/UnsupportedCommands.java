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
    static final Map<String, String> ADVICE = new HashMap<>();

    static {
        advise("values are appended at the tail only: use RPUSH", "LPUSH LPUSHX LINSERT");
        advise("values are trimmed from the head only: use LPOP or LTRIM", "LREM LMPOP");
        advise(
                "values are trimmed from the head only, and no sequence is assigned twice: use LPOP for the oldest"
                        + " value, or LINDEX key -1 to read the newest one",
                "RPOP");
        advise(
                "values are trimmed from the head only, and no sequence is assigned twice: use BLPOP for the oldest"
                        + " value, or CARAVAN.READ with BLOCK to read the next values",
                "BRPOP");
        advise("values never change: append another one with RPUSH", "LSET");
        advise(
                "values stay in their document: use LPOP, and RPUSH onto the other one",
                "LMOVE RPOPLPUSH BLMOVE BRPOPLPUSH");
        advise("use BLPOP, which removes one value, and LPOP with a count for more", "BLMPOP");
        advise("use LRANGE, and search the values", "LPOS");
        advise(
                "documents hold lists: use RPUSH, and LINDEX key -1 for the newest value",
                "SET GET MSET MGET MSETNX SETNX SETEX PSETEX GETSET GETDEL GETEX APPEND STRLEN SETRANGE "
                        + "GETRANGE INCR INCRBY DECR DECRBY INCRBYFLOAT SETBIT GETBIT");
        advise(
                "documents hold lists: keep a document for each field, or a value for each change",
                "HSET HGET HMSET HMGET HGETALL HDEL HINCRBY SADD SREM SMEMBERS SISMEMBER SCARD ZADD "
                        + "ZRANGE ZREM ZSCORE ZCARD PFADD PFCOUNT GEOADD");
        advise("use SUBSCRIBE, or CARAVAN.READ with BLOCK, which loses nothing", "SSUBSCRIBE");
        advise("use UNSUBSCRIBE", "SUNSUBSCRIBE");
        advise("use PUBLISH, whose reply is the number of receivers", "SPUBLISH PUBSUB");
        advise("use RPUSH", "XADD");
        advise("use CARAVAN.READ, with BLOCK to wait", "XREAD XRANGE XREVRANGE XREADGROUP");
        advise("use LLEN", "XLEN");
        advise("use CARAVAN.TRIM", "XTRIM XDEL");
        advise(
                "use CARAVAN.APPEND with IFSEQ, which fails if the document has changed, also within MULTI",
                "WATCH UNWATCH EVAL EVALSHA EVAL_RO SCRIPT FCALL FUNCTION");
        advise(
                "a document keeps its name: read it, append to the other one, and DEL",
                "RENAME RENAMENX COPY MOVE SWAPDB DUMP RESTORE MIGRATE");
        advise("delete with SCAN and DEL", "FLUSHALL FLUSHDB");
        advise("use SCAN", "RANDOMKEY SORT SORT_RO");
        advise("use CARAVAN.INFO", "DEBUG");
        advise("stop the process with SIGTERM", "SHUTDOWN");
        advise("there is one server, and no replicas", "REPLICAOF SLAVEOF ROLE CLUSTER PSYNC SYNC FAILOVER");
        advise("users are in the server's configuration", "ACL");
        advise("use INFO or SLOWLOG", "MONITOR LATENCY");
        advise("there is no append-only file to rewrite: use BGSAVE", "BGREWRITEAOF");
    }

    private UnsupportedCommands() {}

    private static void advise(String advice, String commands) {
        List.of(commands.split(" ")).forEach(command -> ADVICE.put(command, advice));
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
