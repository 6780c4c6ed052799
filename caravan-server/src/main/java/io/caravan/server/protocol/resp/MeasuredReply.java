package io.caravan.server.protocol.resp;

import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.metrics.ServerMetrics.RequestOutcome;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A reply that measures the time since the start of its request, for {@code /metrics} and {@code SLOWLOG}. */
final class MeasuredReply extends PendingReply {
    private static final String PROTOCOL = "resp";
    /** The name under which metrics count unknown commands and malformed requests. */
    private static final String UNKNOWN = "unknown";
    /** Prefixes of the errors that count as failures of the server. */
    private static final Set<String> FAILURES = Set.of("OOM", "IOERR", "CORRUPT", "ARCHIVE", "RESTORING");

    private static final String INTERNAL = "ERR internal error";

    private final ServerMetrics metrics;
    private final SlowLog slowLog;
    private final Session session;
    private final @Nullable CommandSpec spec;
    private final @Nullable Command command;
    private final long startedNanos = System.nanoTime();

    /**
     * Creates the pending reply to a request that starts now.
     *
     * @param spec null if the command does not exist
     * @param command null if the request is malformed
     */
    MeasuredReply(
            ReplyQueue queue,
            ServerMetrics metrics,
            SlowLog slowLog,
            Session session,
            @Nullable CommandSpec spec,
            @Nullable Command command) {
        super(queue, session.protocol());
        this.metrics = metrics;
        this.slowLog = slowLog;
        this.session = session;
        this.spec = spec;
        this.command = command;
        session.countCommand();
    }

    @Override
    public Runnable untilAbandoned(Runnable rest) {
        return session.untilClosed(rest);
    }

    @Override
    protected void replied(@Nullable Reply complete) {
        long nanos = count(complete instanceof Reply.Error error ? outcome(error.text()) : RequestOutcome.OK);
        if (spec != null && command != null) {
            slowLog.done(session, spec, command, nanos);
        }
    }

    @Override
    protected void abandoned() {
        count(RequestOutcome.ABANDONED);
    }

    private long count(RequestOutcome outcome) {
        long nanos = System.nanoTime() - startedNanos;
        metrics.request(PROTOCOL, spec == null ? UNKNOWN : spec.lowerName(), outcome, nanos);
        return nanos;
    }

    private static RequestOutcome outcome(String error) {
        int space = error.indexOf(' ');
        boolean failed = FAILURES.contains(space < 0 ? error : error.substring(0, space)) || error.startsWith(INTERNAL);
        return failed ? RequestOutcome.FAILED : RequestOutcome.REJECTED;
    }
}
