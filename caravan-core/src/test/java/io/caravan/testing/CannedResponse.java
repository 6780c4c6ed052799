package io.caravan.testing;

import java.nio.charset.StandardCharsets;

/**
 * An HTTP response that a {@link FaultProxy} sends in place of its server. The proxy then closes the connection.
 *
 * @param status the HTTP status, such as 503
 * @param header one or several header lines without the last line end, or empty; with a {@code Transfer-Encoding}, the
 * body must have that encoding, and no length is sent
 * @param body text, or empty
 */
public record CannedResponse(int status, String header, String body) {

    /** Returns a response that has only a status. */
    public static CannedResponse of(int status) {
        return new CannedResponse(status, "", "");
    }

    /** Returns an error response of an S3 server. */
    public static CannedResponse s3(int status, String code, String message) {
        String body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>" + code + "</Code><Message>" + message
                + "</Message><RequestId>1</RequestId></Error>";
        return new CannedResponse(status, "Content-Type: application/xml", body);
    }

    byte[] bytes() {
        String head =
                "HTTP/1.1 " + status + " Fault\r\nConnection: close\r\n" + (header.isEmpty() ? "" : header + "\r\n");
        String length = "Content-Length: " + body.getBytes(StandardCharsets.UTF_8).length + "\r\n";
        return (head + (header.contains("Transfer-Encoding") ? "" : length) + "\r\n" + body)
                .getBytes(StandardCharsets.UTF_8);
    }
}
