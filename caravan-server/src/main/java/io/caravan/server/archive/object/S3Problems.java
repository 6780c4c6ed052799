package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.netty.handler.timeout.ReadTimeoutException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.Locale;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Translates S3 error responses and missing responses into exceptions that state the cause and the remedy. */
final class S3Problems {
    private static final int QUOTED_CHARACTERS = 300;

    /** The meaning of an error response. */
    private record Meaning(Kind kind, @Nullable String advice) {
        Meaning(Kind kind) {
            this(kind, null);
        }
    }

    private static Meaning meaning(S3Exception response) {
        String code = code(response);
        int status = response.statusCode();
        if (status == 507 || message(response).toLowerCase(Locale.ROOT).contains("no space")) {
            return new Meaning(Kind.FULL);
        }
        return switch (code) {
            case "AccessDenied" -> meaning(403);
            case "InvalidAccessKeyId" -> denied("the access key does not exist: check the credentials");
            case "SignatureDoesNotMatch" ->
                denied("the secret key does not match the access key: check the credentials");
            case "ExpiredToken" -> denied("the credentials have expired: renew them");
            case "RequestTimeTooSkewed" ->
                denied("the clocks of this node and of the server differ too much: check the clock");
            case "NoSuchBucket" ->
                new Meaning(Kind.NOT_FOUND, "there is no such bucket: check its name, the endpoint and the region");
            case "PermanentRedirect", "AuthorizationHeaderMalformed" ->
                new Meaning(Kind.NOT_FOUND, "the bucket is in another region: name it");
            case "NotImplemented" ->
                new Meaning(Kind.CORRUPT, "this server lacks a feature that an archive needs: use another one");
            case "RequestTimeout", "SlowDown", "NoSuchUpload", "InternalError", "BadDigest" ->
                new Meaning(Kind.UNAVAILABLE);
            case "XMinioStorageFull", "QuotaExceeded", "InsufficientStorage" -> new Meaning(Kind.FULL);
            case "ConditionalRequestConflict" -> meaning(status);
            // The response of a proxy whose server is unavailable.
            case "" -> status == 404 ? new Meaning(Kind.UNAVAILABLE) : meaning(status);
            // At 409, two calls conflicted; no condition was involved.
            default -> status == 409 ? new Meaning(Kind.UNAVAILABLE) : meaning(status);
        };
    }

    private static Meaning meaning(int status) {
        return switch (status) {
            case 301, 307, 404 -> new Meaning(Kind.NOT_FOUND);
            case 401, 403 -> denied("the credentials do not permit this call: permit it, or use others");
            case 409, 412 -> new Meaning(Kind.CONFLICT);
            case 429 -> new Meaning(Kind.UNAVAILABLE);
            default -> new Meaning(status >= 500 && status != 501 ? Kind.UNAVAILABLE : Kind.CORRUPT);
        };
    }

    private static Meaning denied(String advice) {
        return new Meaning(Kind.DENIED, advice);
    }

    private final String where;

    /** @param where the location and its server, for messages */
    S3Problems(String where) {
        this.where = where;
    }

    /** Returns the exception for a failed call, such as {@code PutObject}, on an object or a directory of objects. */
    ObjectStoreException problem(String call, String key, Throwable cause) {
        if (cause instanceof ObjectStoreException known) {
            return known;
        }
        if (cause instanceof S3Exception response) {
            Meaning meaning = meaning(response);
            String code = code(response);
            String said = response.statusCode() + (code.isEmpty() ? "" : " " + code) + message(response);
            String why = meaning.advice() == null ? said : meaning.advice() + " (" + said + ")";
            return of(meaning.kind(), call, key, why, cause);
        }
        String message = String.valueOf(cause.getMessage());
        if (message.contains("Unable to load credentials")) {
            String why =
                    "there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile, or a role";
            return of(Kind.DENIED, call, key, why, cause);
        }
        return of(Kind.UNAVAILABLE, call, key, noResponse(cause, message), cause);
    }

    ObjectStoreException of(Kind kind, String call, String key, String why, @Nullable Throwable cause) {
        return new ObjectStoreException(kind, call + " of '" + key + "' in " + where + " failed: " + why, cause);
    }

    /** Whether the server responded that the object does not exist, although the bucket does. */
    static boolean isNoSuchObject(ObjectStoreException failed) {
        return failed.getCause() instanceof S3Exception response
                && code(response).equals("NoSuchKey");
    }

    private static String code(S3Exception response) {
        AwsErrorDetails details = response.awsErrorDetails();
        String code = details == null ? null : details.errorCode();
        return code == null ? "" : code;
    }

    private static String message(S3Exception response) {
        AwsErrorDetails details = response.awsErrorDetails();
        String message = details == null ? null : details.errorMessage();
        return message == null || message.isEmpty() ? "" : ": " + quoted(message);
    }

    /** Returns a message from the server or the SDK, truncated to a useful length. */
    static String quoted(String message) {
        return message.length() <= QUOTED_CHARACTERS ? message : message.substring(0, QUOTED_CHARACTERS) + "...";
    }

    private static String noResponse(Throwable cause, String message) {
        if (isInterruption(cause)) {
            return "interrupted";
        }
        // Netty's own timeout of an idle connection may expire slightly before the SDK's.
        if (has(cause, ApiCallTimeoutException.class)
                || has(cause, ApiCallAttemptTimeoutException.class)
                || has(cause, ReadTimeoutException.class)) {
            return "no response in time: " + message;
        }
        if (has(cause, UnknownHostException.class)) {
            return "its host name is unknown: check the endpoint, the region, and whether the bucket belongs in the path";
        }
        if (has(cause, ConnectException.class)) {
            return "no server listens at this address: check the server and the endpoint (" + message + ")";
        }
        if (has(cause, SSLException.class)) {
            return "no encrypted connection: check http or https, and the certificate (" + message + ")";
        }
        // The SDK's connection pool has no exception of its own for this, and wraps no cause.
        return message.contains("Acquire operation took longer")
                ? "no connection in time: check the server and the endpoint"
                : quoted(message);
    }

    /** Whether the SDK canceled the call because its caller was interrupted. */
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
