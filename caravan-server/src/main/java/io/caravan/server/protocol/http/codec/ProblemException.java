package io.caravan.server.protocol.http.codec;

import io.netty.handler.codec.http.HttpResponseStatus;

/** Ends a request with a {@link Problem}. */
public final class ProblemException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    public ProblemException(Problem problem) {
        super(problem.detail());
        this.problem = problem;
    }

    public static ProblemException badRequest(String code, String detail) {
        return new ProblemException(new Problem(HttpResponseStatus.BAD_REQUEST, code, detail));
    }

    public Problem problem() {
        return problem;
    }

    /** Refusals are answers: nobody looks at where they were made. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
