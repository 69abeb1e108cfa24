;;; fullgraph.el --- Findings about PyTorch code at point  -*- lexical-binding: t; -*-

;; For Emacs 27 or newer. Put this file into a folder of `load-path' and add to your init file:
;;
;;   (require 'fullgraph)
;;   (add-hook 'python-mode-hook #'fullgraph-setup)
;;
;; M-x fullgraph-at-point shows the findings at point and applies the one that you choose; Flymake marks
;; all of the buffer.  The buffer counts, saved or not, and nothing is written: what a fix changes in
;; other files is in their buffers.  With Eglot as the client of the language server you need none of it:
;;
;;   (add-to-list 'eglot-server-programs '(python-mode . ("fullgraph" "lsp")))

;;; Code:

(require 'flymake)
(require 'subr-x)

(defvar fullgraph-command "fullgraph"
  "The command, or its path.")

(defun fullgraph--ask (place &rest options)
  "The answer of `fullgraph at' about PLACE in this buffer, called with OPTIONS."
  (let ((coding-system-for-read 'utf-8)
        (coding-system-for-write (or buffer-file-coding-system 'utf-8))
        (output (generate-new-buffer " *fullgraph*")))
    (unwind-protect
        (progn
          (apply #'call-process-region nil nil fullgraph-command nil (list output nil) nil
                 "at" place "--stdin" "--json" options)
          (with-current-buffer output
            (goto-char (point-min))
            (fullgraph--read)))
      (kill-buffer output))))

(defun fullgraph--read ()
  "The answer at point; what is wrong with it is an error."
  (let* ((answer (json-parse-buffer :object-type 'alist :array-type 'list :false-object nil))
         (error-text (alist-get 'error answer)))
    (unless (string-empty-p error-text)
      (user-error "fullgraph: %s" error-text))
    answer))

(defun fullgraph--place ()
  "Point as `fullgraph at' reads it: columns count characters."
  (save-restriction
    (widen)
    (format "%s:%d:%d" buffer-file-name (line-number-at-pos) (1+ (- (point) (line-beginning-position))))))

(defun fullgraph--title (finding)
  "FINDING in one line."
  (let-alist finding
    (format "%s: %s%s" .codemod .message (if (equal .safety "unsafe") (format " (unsafe: %s)" .caveat) ""))))

;;;###autoload
(defun fullgraph-at-point ()
  "Apply one of the findings at point."
  (interactive)
  (let* ((findings (seq-filter (lambda (finding) (alist-get 'edits finding))
                               (alist-get 'findings (fullgraph--ask (fullgraph--place)))))
         (choices (mapcar (lambda (finding) (cons (fullgraph--title finding) (alist-get 'key finding))) findings)))
    (if (null choices)
        (message "fullgraph: nothing to fix here")
      (fullgraph--apply (cdr (assoc (completing-read "Apply: " choices nil t) choices))))))

(defun fullgraph--apply (key)
  "Put the texts that the finding KEY makes into their buffers."
  (dolist (file (alist-get 'files (fullgraph--ask buffer-file-name "--apply" key)))
    (let ((text (replace-regexp-in-string "\r\n?" "\n" (string-remove-prefix "\ufeff" (alist-get 'text file)))))
      (with-current-buffer (find-file-noselect (alist-get 'file file))
        (let ((new (generate-new-buffer " *fullgraph text*"))
              (inhibit-read-only nil))
          (unwind-protect
              (progn
                (with-current-buffer new (insert text))
                (save-restriction
                  (widen)
                  (replace-buffer-contents new)))
            (kill-buffer new)))))))

(defun fullgraph--offset (position)
  "The place in this buffer that POSITION means."
  (save-excursion
    (goto-char (point-min))
    (forward-line (1- (alist-get 'line position)))
    (+ (point) (1- (alist-get 'column position)))))

(defun fullgraph-flymake (report &rest _)
  "Tell REPORT the findings of this buffer."
  (condition-case failure
      (funcall report
               (mapcar (lambda (finding)
                         (let-alist finding
                           (flymake-make-diagnostic (current-buffer) (fullgraph--offset .start) (fullgraph--offset .end)
                                                    :warning (fullgraph--title finding))))
                       (alist-get 'findings (fullgraph--ask buffer-file-name))))
    (user-error (funcall report nil :explanation (error-message-string failure)))))

;;;###autoload
(defun fullgraph-setup ()
  "Mark the findings of this buffer with Flymake."
  (when buffer-file-name
    (add-hook 'flymake-diagnostic-functions #'fullgraph-flymake nil t)
    (flymake-mode 1)))

(provide 'fullgraph)
;;; fullgraph.el ends here
