//! A server on this machine, for what speaks HTTP: a page for a browser, a provider for a model.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What was asked for.
pub(crate) struct Request {
    /// The method and the path, such as `GET /`.
    pub(crate) line: String,
    /// All headers, as they came.
    pub(crate) headers: String,
    /// The body.
    pub(crate) body: String,
}

/// What is answered: the status, the type of the content, the content.
pub(crate) type Answer = (u16, &'static str, String);

/// Does some work while a server answers; the work is given its address, such as `http://127.0.0.1:4000`.
pub(crate) fn serve<T>(
    answer: impl Fn(&Request) -> Answer + Sync,
    work: impl FnOnce(&str) -> T,
) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for stream in listener.incoming() {
                if is_over.load(Ordering::SeqCst) {
                    break;
                }
                let answer = &answer;
                // Browsers open connections that they may never use, so none waits for another.
                scope.spawn(move || stream.map(|stream| one(stream, answer)));
            }
        });
        let _end = End { is_over: &is_over, address };
        work(&format!("http://{address}"))
    })
}

/// Ends the server, also when the work panics.
struct End<'a> {
    is_over: &'a AtomicBool,
    address: SocketAddr,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let _woken = TcpStream::connect(self.address);
    }
}

/// Answers the one request of a connection, if there is any.
fn one(stream: TcpStream, answer: &impl Fn(&Request) -> Answer) -> Option<()> {
    stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
    let (mut headers, mut length) = (String::new(), 0);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(n) = header.to_lowercase().strip_prefix("content-length:") {
            length = n.trim().parse().ok()?;
        }
        headers.push_str(&header);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let line = line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let request = Request { line, headers, body: String::from_utf8_lossy(&body).into_owned() };
    let (status, kind, content) = answer(&request);
    let n = content.len();
    let head = format!(
        "HTTP/1.1 {status} S\r\ncontent-type: {kind}\r\ncontent-length: {n}\r\nconnection: close\r\n\r\n"
    );
    reader.get_mut().write_all((head + &content).as_bytes()).ok()
}
