package io.caravan.testing;

import java.nio.charset.StandardCharsets;

/**
 * What a {@link FaultProxy} answers instead of the server behind it; the connection ends after it.
 *
 * @param status such as 503
 * @param header one header line without its end, or several, or empty; with a {@code Transfer-Encoding} the body is as
 *     that wants it, and has no other length
 * @param body text, or empty
 */
public record HttpAnswer(int status, String header, String body) {

    /** An answer of nothing but a status. */
    public static HttpAnswer of(int status) {
        return new HttpAnswer(status, "", "");
    }

    /** An S3 server's refusal. */
    public static HttpAnswer s3(int status, String code, String message) {
        String body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>" + code + "</Code><Message>" + message
                + "</Message><RequestId>1</RequestId></Error>";
        return new HttpAnswer(status, "Content-Type: application/xml", body);
    }

    byte[] bytes() {
        String head =
                "HTTP/1.1 " + status + " Fault\r\nConnection: close\r\n" + (header.isEmpty() ? "" : header + "\r\n");
        String length = "Content-Length: " + body.getBytes(StandardCharsets.UTF_8).length + "\r\n";
        return (head + (header.contains("Transfer-Encoding") ? "" : length) + "\r\n" + body)
                .getBytes(StandardCharsets.UTF_8);
    }
}
