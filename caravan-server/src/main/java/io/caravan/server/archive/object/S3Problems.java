package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Says of what S3 answers, or does not, what it means and what to do. */
final class S3Problems {
    private static final int QUOTED_CHARACTERS = 300;

    private static final Map<String, String> ADVICE = Map.of(
            "NoSuchBucket", "there is no such bucket: check its name, the endpoint and the region",
            "InvalidAccessKeyId", "the server does not know the access key: check the credentials",
            "SignatureDoesNotMatch", "the secret key is not that of the access key: check the credentials",
            "ExpiredToken", "the credentials have expired: renew them",
            "RequestTimeTooSkewed", "this host's time and the server's are too far apart: check the clock",
            "AccessDenied", "the credentials do not permit this call: permit it, or use others",
            "PermanentRedirect", "the bucket is in another region: name it",
            "AuthorizationHeaderMalformed", "the bucket is in another region: name it",
            "NotImplemented", "this server does not know what an archive needs: use another one");

    private static final Set<String> DENIED = Set.of(
            "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "RequestTimeTooSkewed", "AccessDenied");

    private static final Set<String> ELSEWHERE =
            Set.of("NoSuchBucket", "PermanentRedirect", "AuthorizationHeaderMalformed");

    private static final Set<String> LATER =
            Set.of("RequestTimeout", "SlowDown", "NoSuchUpload", "InternalError", "BadDigest");

    private static final Set<String> FULL = Set.of("XMinioStorageFull", "QuotaExceeded", "InsufficientStorage");

    private final String where;

    /** @param where the place, with its server */
    S3Problems(String where) {
        this.where = where;
    }

    /**
     * What to throw.
     *
     * @param call the call to S3, such as {@code PutObject}
     * @param key the object, or a folder of objects
     */
    ObjectStoreException problem(String call, String key, Throwable cause) {
        if (cause instanceof ObjectStoreException known) {
            return known;
        }
        if (cause instanceof S3Exception answer) {
            return of(kind(answer), call, key, describe(answer), cause);
        }
        return unanswered(call, key, cause);
    }

    ObjectStoreException of(Kind kind, String call, String key, String why, @Nullable Throwable cause) {
        return new ObjectStoreException(kind, call + " of '" + key + "' in " + where + " failed: " + why, cause);
    }

    /** True when the answer was that there is no such object, but a bucket. */
    static boolean isNoSuchObject(ObjectStoreException failed) {
        return failed.getCause() instanceof S3Exception answer
                && answer.statusCode() == 404
                && !ELSEWHERE.contains(code(answer));
    }

    private static Kind kind(S3Exception answer) {
        String code = code(answer);
        int status = answer.statusCode();
        if (status == 507
                || FULL.contains(code)
                || message(answer).toLowerCase(Locale.ROOT).contains("no space")) {
            return Kind.FULL;
        }
        if (DENIED.contains(code)) {
            return Kind.DENIED;
        }
        if (LATER.contains(code)) {
            return Kind.UNAVAILABLE;
        }
        if (ELSEWHERE.contains(code)) {
            return Kind.NOT_FOUND;
        }
        if (status == 409 && !code.isEmpty() && !code.equals("ConditionalRequestConflict")) {
            // Two calls were in each other's way, without any condition.
            return Kind.UNAVAILABLE;
        }
        return kind(status);
    }

    private static Kind kind(int status) {
        return switch (status) {
            case 301, 307, 404 -> Kind.NOT_FOUND;
            case 401, 403 -> Kind.DENIED;
            case 409, 412 -> Kind.CONFLICT;
            case 429 -> Kind.UNAVAILABLE;
            case 501 -> Kind.CORRUPT;
            default -> status >= 500 ? Kind.UNAVAILABLE : Kind.CORRUPT;
        };
    }

    private static String describe(S3Exception answer) {
        String code = code(answer);
        String advice = ADVICE.get(code);
        if (advice == null && kind(answer) == Kind.DENIED) {
            advice = ADVICE.get("AccessDenied");
        }
        String said = answer.statusCode() + (code.isEmpty() ? "" : " " + code) + message(answer);
        return advice == null ? said : advice + " (" + said + ")";
    }

    private static String code(S3Exception answer) {
        AwsErrorDetails details = answer.awsErrorDetails();
        String code = details == null ? null : details.errorCode();
        return code == null ? "" : code;
    }

    private static String message(S3Exception answer) {
        AwsErrorDetails details = answer.awsErrorDetails();
        String message = details == null ? null : details.errorMessage();
        return message == null || message.isEmpty() ? "" : ": " + quoted(message);
    }

    /** As much of a message of others as is of use. */
    static String quoted(String message) {
        return message.length() <= QUOTED_CHARACTERS ? message : message.substring(0, QUOTED_CHARACTERS) + "...";
    }

    private ObjectStoreException unanswered(String call, String key, Throwable cause) {
        if (isInterruption(cause)) {
            return of(Kind.UNAVAILABLE, call, key, "interrupted", cause);
        }
        if (has(cause, ApiCallTimeoutException.class) || has(cause, ApiCallAttemptTimeoutException.class)) {
            return of(Kind.UNAVAILABLE, call, key, "no answer in time: " + cause.getMessage(), cause);
        }
        if (has(cause, UnknownHostException.class)) {
            String why =
                    "its host is not known: check the endpoint, the region, and whether it wants the bucket in the path";
            return of(Kind.UNAVAILABLE, call, key, why, cause);
        }
        if (has(cause, ConnectException.class)) {
            String why = "nobody listens there: check the server and the endpoint (" + cause.getMessage() + ")";
            return of(Kind.UNAVAILABLE, call, key, why, cause);
        }
        if (has(cause, SSLException.class)) {
            String why =
                    "no encrypted connection: check http or https, and the certificate (" + cause.getMessage() + ")";
            return of(Kind.UNAVAILABLE, call, key, why, cause);
        }
        String message = String.valueOf(cause.getMessage());
        if (message.contains("Unable to load credentials")) {
            String why =
                    "there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile, or a role";
            return of(Kind.DENIED, call, key, why, cause);
        }
        // The SDK's pool of connections has no exception of its own for this, and wraps no cause.
        if (message.contains("Acquire operation took longer")) {
            String why = "no connection in time: check the server and the endpoint";
            return of(Kind.UNAVAILABLE, call, key, why, cause);
        }
        return of(Kind.UNAVAILABLE, call, key, quoted(message), cause);
    }

    /** True when the SDK gave the call up because its caller was interrupted. */
    static boolean isInterruption(Throwable cause) {
        return has(cause, InterruptedException.class) || has(cause, AbortedException.class);
    }

    private static boolean has(Throwable problem, Class<? extends Throwable> type) {
        for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return true;
            }
        }
        return false;
    }
}
